locals {
  list = ["a", "b"]
  text = <<-EOT
    indented
      more
    %{ for x in local.list ~}
    - ${x}
    %{ endfor ~}
    end $${not} %%{not}
  EOT
  flush = <<EOT
  kept
EOT
}
output "text" {
  value = local.text
}
output "flush" {
  value = local.flush
}
output "unwrap" {
  value = "${[1]}"
}
output "joined" {
  value = "a-${1}-${true}"
}
output "iff" {
  value = "%{ if true }yes%{ else }no%{ endif }"
}
output "trim" {
  value = "x   ${~ 1 ~}   y"
}
output "esc" {
  value = "tab\tnl\nquote\"uni\u00e4"
}
output "tmpl" {
  value = templatestring(local.tmpl, { n = 2 })
}
locals {
  tmpl = "n is $${n}"
}
