package demo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// awsScope changes the scope of examples/enrol: one tag of everything belongs to another
// writer, and descriptions of parameters are only observed.
const awsScope = `resource "towline_scope" "all" {
  include = [{ address = "**", except = ["tags[\"owner\"]", "tags_all[\"owner\"]"] }]
  drift = {
    mode  = "enforce"
    grace = var.grace
    rules = [{ attributes = ["aws_ssm_parameter.description"], mode = "observe" }]
  }
}
`

func (m *awsMock) foreign() edit {
	return edit{
		what: "another team puts its name into the tag owner of the list of subnets, which the scope leaves to it", address: "aws_ssm_parameter.subnets",
		make: func(ctx context.Context) error {
			_, err := m.ssm.AddTagsToResource(ctx, &ssm.AddTagsToResourceInput{ResourceId: aws.String(awsSubnets), ResourceType: ssmtypes.ResourceTypeForTaggingParameter,
				Tags: []ssmtypes.Tag{{Key: aws.String("owner"), Value: aws.String("platform")}}})
			return err
		},
		stands: func(ctx context.Context) (bool, error) { return m.tagged(ctx, "owner", "platform") },
	}
}

// tagged tells whether the list of subnets has a tag.
func (m *awsMock) tagged(ctx context.Context, key, value string) (bool, error) {
	out, err := m.ssm.ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{ResourceId: aws.String(awsSubnets), ResourceType: ssmtypes.ResourceTypeForTaggingParameter})
	if err != nil {
		return false, err
	}
	for _, tag := range out.TagList {
		if aws.ToString(tag.Key) == key {
			return aws.ToString(tag.Value) == value, nil
		}
	}
	return false, nil
}

func (m *awsMock) watched() edit {
	const text = "Where collectors run; ask platform before changing it"
	return edit{
		what: "the list of subnets gets a description; the scope only observes it", address: "aws_ssm_parameter.subnets",
		make: func(ctx context.Context) error {
			list, err := m.value(ctx, awsSubnets)
			if err != nil {
				return err
			}
			_, err = m.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String(awsSubnets), Value: aws.String(list), Type: ssmtypes.ParameterTypeStringList,
				Description: aws.String(text), Overwrite: aws.Bool(true)})
			return err
		},
		stands: func(ctx context.Context) (bool, error) {
			out, err := m.ssm.DescribeParameters(ctx, &ssm.DescribeParametersInput{ParameterFilters: []ssmtypes.ParameterStringFilter{
				{Key: aws.String("Name"), Option: aws.String("Equals"), Values: []string{awsSubnets}}}})
			return err == nil && len(out.Parameters) == 1 && aws.ToString(out.Parameters[0].Description) == text, err
		},
	}
}

func (m *awsMock) attribute() string { return "description" }

func (m *awsMock) rewrite() (before, after string) {
	return `managed-by = "towline"`, `managed-by = "towline-agent"`
}

func (m *awsMock) rewritten(ctx context.Context) (bool, error) {
	return m.tagged(ctx, "managed-by", "towline-agent")
}
