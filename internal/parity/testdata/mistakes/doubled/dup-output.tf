output "a_4" { value = 1 }
output "a_4" { value = 1 }
