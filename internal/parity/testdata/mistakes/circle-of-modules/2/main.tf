moved {
  from = module.x
  to   = module.y
}
moved {
  from = module.y
  to   = module.x
}
