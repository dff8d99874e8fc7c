# A small network and what belongs to it, with the AWS provider.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "5.100.0"
    }
  }
}

# Credentials come from the agent's machine, as for every AWS tool. With mock = true
# the provider asks nothing of AWS that a mock of it does not know.
provider "aws" {
  region                      = var.region
  max_retries                 = 3
  skip_credentials_validation = var.mock
  skip_metadata_api_check     = var.mock
  skip_requesting_account_id  = var.mock
  s3_use_path_style           = var.mock
}

locals {
  tags = { service = var.name, managed-by = "towline" }
}

resource "aws_vpc" "this" {
  cidr_block           = var.cidr
  enable_dns_hostnames = true
  tags                 = merge(local.tags, { Name = var.name })
}

resource "aws_subnet" "this" {
  for_each = var.zones

  vpc_id            = aws_vpc.this.id
  cidr_block        = cidrsubnet(var.cidr, 4, each.value)
  availability_zone = "${var.region}${each.key}"
  tags              = merge(local.tags, { Name = "${var.name}-${each.key}" })
}

resource "aws_security_group" "this" {
  for_each = var.security_groups

  name        = "${var.name}-${each.key}"
  description = each.value.description
  vpc_id      = aws_vpc.this.id
  tags        = local.tags

  dynamic "ingress" {
    for_each = each.value.ports
    content {
      description = "Port ${ingress.value}"
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = [for subnet in aws_subnet.this : subnet.cidr_block]
    }
  }
}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "archive" {
  statement {
    actions   = ["s3:GetObject", "s3:PutObject"]
    resources = ["${aws_s3_bucket.archive.arn}/*"]
  }
}

resource "aws_iam_role" "collector" {
  name               = "${var.name}-collector"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "archive" {
  name   = "archive"
  role   = aws_iam_role.collector.id
  policy = data.aws_iam_policy_document.archive.json
}

resource "aws_s3_bucket" "archive" {
  bucket = "${var.name}-archive"
  tags   = local.tags
}

resource "aws_ssm_parameter" "endpoint" {
  name  = "/${var.name}/collector/endpoint"
  type  = "String"
  value = "https://collector.${var.name}.internal:8443"
  tags  = local.tags
}

resource "aws_ssm_parameter" "subnets" {
  name  = "/${var.name}/collector/subnets"
  type  = "StringList"
  value = join(",", sort([for subnet in aws_subnet.this : subnet.id]))
  tags  = local.tags
}
