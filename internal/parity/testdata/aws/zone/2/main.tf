resource "aws_route53_zone" "z" {
  name = "parity.example"
}
resource "aws_route53_record" "r" {
  zone_id = aws_route53_zone.z.zone_id
  name    = "www"
  type    = "A"
  ttl     = 120
  records = ["10.0.0.2", "10.0.0.3"]
}
