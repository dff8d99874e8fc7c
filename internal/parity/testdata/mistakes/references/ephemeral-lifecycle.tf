ephemeral "x_y" "a_7" {
 lifecycle {
   create_before_destroy = true
   prevent_destroy = true
 }
 provisioner "local-exec" {}
 connection {}
}
