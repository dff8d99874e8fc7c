package backend

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// s3Schema has every argument of terraform's s3 backend, so that both programs
// identify the same block by the same hash; [refuseS3] says which do nothing here.
var s3Schema = schema{
	required: []string{"bucket", "key"},
	attributes: map[string]cty.Type{
		"bucket": cty.String, "key": cty.String, "region": cty.String, "acl": cty.String, "encrypt": cty.Bool,
		"kms_key_id": cty.String, "sse_customer_key": cty.String, "workspace_key_prefix": cty.String, "use_lockfile": cty.Bool,
		"dynamodb_table": cty.String, "dynamodb_endpoint": cty.String,
		"access_key": cty.String, "secret_key": cty.String, "token": cty.String, "profile": cty.String,
		"shared_config_files": cty.Set(cty.String), "shared_credentials_file": cty.String, "shared_credentials_files": cty.Set(cty.String),
		"allowed_account_ids": cty.Set(cty.String), "forbidden_account_ids": cty.Set(cty.String),
		"endpoint": cty.String, "endpoints": endpointsType, "iam_endpoint": cty.String, "sts_endpoint": cty.String, "sts_region": cty.String,
		"ec2_metadata_service_endpoint": cty.String, "ec2_metadata_service_endpoint_mode": cty.String,
		"custom_ca_bundle": cty.String, "http_proxy": cty.String, "https_proxy": cty.String, "no_proxy": cty.String, "insecure": cty.Bool,
		"force_path_style": cty.Bool, "use_path_style": cty.Bool, "use_dualstack_endpoint": cty.Bool, "use_fips_endpoint": cty.Bool,
		"max_retries": cty.Number, "retry_mode": cty.String,
		"skip_credentials_validation": cty.Bool, "skip_metadata_api_check": cty.Bool, "skip_region_validation": cty.Bool,
		"skip_requesting_account_id": cty.Bool, "skip_s3_checksum": cty.Bool,
		"assume_role": assumeRoleType, "assume_role_with_web_identity": webIdentityType,
	},
}

var endpointsType = cty.ObjectWithOptionalAttrs(map[string]cty.Type{
	"dynamodb": cty.String, "iam": cty.String, "s3": cty.String, "sso": cty.String, "sts": cty.String,
}, []string{"dynamodb", "iam", "s3", "sso", "sts"})

var assumeRoleType = cty.ObjectWithOptionalAttrs(map[string]cty.Type{
	"role_arn": cty.String, "duration": cty.String, "external_id": cty.String, "policy": cty.String, "policy_arns": cty.Set(cty.String),
	"session_name": cty.String, "source_identity": cty.String, "tags": cty.Map(cty.String), "transitive_tag_keys": cty.Set(cty.String),
}, []string{"duration", "external_id", "policy", "policy_arns", "session_name", "source_identity", "tags", "transitive_tag_keys"})

var webIdentityType = cty.ObjectWithOptionalAttrs(map[string]cty.Type{
	"role_arn": cty.String, "duration": cty.String, "policy": cty.String, "policy_arns": cty.Set(cty.String),
	"session_name": cty.String, "web_identity_token": cty.String, "web_identity_token_file": cty.String,
}, []string{"duration", "policy", "policy_arns", "session_name", "web_identity_token", "web_identity_token_file"})

// refuseS3 refuses what would mean something else than it does with terraform.
func refuseS3(s Settings) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	if s.set("dynamodb_table") {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Unsupported argument",
			"The s3 backend is told to lock its state in a DynamoDB table, which towline does not do; going on without would exclude nobody. Use use_lockfile = true instead of dynamodb_table; terraform can use both while you change over.")...)
	}
	for _, pair := range [][2]string{{"kms_key_id", "sse_customer_key"}, {"endpoint", "endpoints"}, {"force_path_style", "use_path_style"}, {"shared_credentials_file", "shared_credentials_files"}} {
		if s.set(pair[0]) && s.set(pair[1]) {
			diags = append(diags, tfdiags.New(tfdiags.Error, "Invalid Attribute Combination",
				fmt.Sprintf("Only one of the s3 backend's arguments %s and %s may be set. Remove one of them.", pair[0], pair[1]))...)
		}
	}
	return diags
}
