package bench

import (
	"fmt"
	"strings"
)

// layerCount is how deep the layered shape is.
const layerCount = 50

// shape is a configuration of n instances of terraform_data, which needs no
// provider process: all of its cost is the core's.
type shape struct {
	name   string
	source func(n int) string
	// expected is how many instances there are of n asked for.
	expected func(n int) int
}

var (
	blocks     = shape{"blocks", blocksSource, func(n int) int { return n / layerCount * layerCount }}
	layers     = shape{"layers", layeredSource, func(n int) int { return n / layerCount * layerCount }}
	correlated = shape{"correlated", correlatedSource, func(n int) int { return n / 2 * 2 }}
	chained    = shape{"chain", chainedSource, func(n int) int { return n }}
)

// blocksSource has 50 layers of resources that are not counted, each referring to one of the layer before.
func blocksSource(n int) string {
	var b strings.Builder
	for layer := range layerCount {
		for i := range n / layerCount {
			input := `"start"`
			if layer > 0 {
				input = fmt.Sprintf("terraform_data.l%d_%d.id", layer-1, i)
			}
			fmt.Fprintf(&b, "resource \"terraform_data\" \"l%d_%d\" {\n  input = %s\n}\n", layer, i, input)
		}
	}
	return b.String()
}

// layeredSource has 50 counted resources, each instance referring to one of the
// layer before.
func layeredSource(n int) string {
	var b strings.Builder
	for layer := range layerCount {
		input := `"start"`
		if layer > 0 {
			input = fmt.Sprintf("terraform_data.l%d[count.index].id", layer-1)
		}
		fmt.Fprintf(&b, "resource \"terraform_data\" \"l%d\" {\n  count = %d\n  input = %s\n}\n", layer, n/layerCount, input)
	}
	return b.String()
}

// correlatedSource has two counted resources, b[i] referring to a[i].
func correlatedSource(n int) string {
	return fmt.Sprintf("resource \"terraform_data\" \"a\" {\n  count = %[1]d\n}\nresource \"terraform_data\" \"b\" {\n  count = %[1]d\n  input = terraform_data.a[count.index].id\n}\n", n/2)
}

// chainedSource has one resource after the other.
func chainedSource(n int) string {
	var b strings.Builder
	b.WriteString("resource \"terraform_data\" \"r0\" {}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = terraform_data.r%d.id\n}\n", i, i-1)
	}
	return b.String()
}

// awsSource is a small network with what belongs to it, 9 objects, and more
// objects of kinds that are read by two or three calls each. Names begin with
// prefix, so that several folders share one account.
func awsSource(prefix string, more int) string {
	return fmt.Sprintf(awsNetwork, prefix) + fmt.Sprintf(awsMore, prefix, more/2, more-more/2)
}

const awsNetwork = `terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "5.100.0"
    }
  }
}
provider "aws" {
  region                      = "us-east-1"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  s3_use_path_style           = true
}
resource "aws_vpc" "this" {
  cidr_block = "10.40.0.0/16"
}
resource "aws_subnet" "this" {
  count             = 2
  vpc_id            = aws_vpc.this.id
  cidr_block        = cidrsubnet(aws_vpc.this.cidr_block, 4, count.index)
  availability_zone = "us-east-1a"
}
resource "aws_security_group" "this" {
  name   = "%[1]s"
  vpc_id = aws_vpc.this.id
}
resource "aws_iam_role" "this" {
  name               = "%[1]s"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }] })
}
resource "aws_iam_role_policy" "this" {
  name   = "%[1]s"
  role   = aws_iam_role.this.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "${aws_s3_bucket.this.arn}/*" }] })
}
resource "aws_s3_bucket" "this" {
  bucket = "%[1]s"
}
resource "aws_ssm_parameter" "endpoint" {
  name  = "/%[1]s/endpoint"
  type  = "String"
  value = "https://collector.internal:8443"
}
resource "aws_ssm_parameter" "subnets" {
  name  = "/%[1]s/subnets"
  type  = "StringList"
  value = join(",", aws_subnet.this[*].id)
}
`

const awsMore = `resource "aws_sqs_queue" "more" {
  count = %[2]d
  name  = "%[1]s-${count.index}"
}
resource "aws_iam_policy" "more" {
  count  = %[3]d
  name   = "%[1]s-${count.index}"
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }] })
}
`

// simcloudSource has n objects of the simulated cloud.
func simcloudSource(n int) string {
	return fmt.Sprintf(`terraform {
  required_providers {
    simcloud = {
      source = "towline/simcloud"
    }
  }
}
provider "simcloud" {}
resource "simcloud_network_rule" "this" {
  count       = %d
  environment = "prod"
  service     = "payments"
  name        = "rule-${count.index}"
  direction   = "ingress"
  priority    = 1000
}
`, n)
}
