data "nothing" "like" {
}
