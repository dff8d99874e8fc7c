ephemeral "x_y" "a_2" {}
ephemeral "x_y" "a_2" {}
