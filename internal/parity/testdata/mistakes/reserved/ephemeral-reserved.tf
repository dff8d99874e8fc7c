ephemeral "x_y" "a_3" {
  locals {}
}
