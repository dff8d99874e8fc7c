resource "aws_ecr_repository" "r" {
  name                 = "parity/app"
  image_tag_mutability = "IMMUTABLE"
  image_scanning_configuration {
    scan_on_push = true
  }
}
resource "aws_ecr_lifecycle_policy" "p" {
  repository = aws_ecr_repository.r.name
  policy     = jsonencode({ rules = [{ rulePriority = 1, selection = { tagStatus = "untagged", countType = "imageCountMoreThan", countNumber = 5 }, action = { type = "expire" } }] })
}
