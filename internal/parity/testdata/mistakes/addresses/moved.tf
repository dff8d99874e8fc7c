moved {}
moved {
  from = a
  to = b
}
moved {
  from = a.b
  to = module.c
}
moved {
  from = "a.b"
  to = a.c
}
moved {
  from = data.a.b
  to = data.a.c
}
moved {
  from = a.b[count.index]
  to = a.c
}
moved {
  from = a.b.c
  to = a.c
}
moved {
  from = a.b
  to = a.b
}
moved {
  from = var.x
  to = local.b
}
