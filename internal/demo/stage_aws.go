package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// The names that examples/quickstart-aws gives, unless told otherwise.
const (
	awsRegion    = "us-east-1"
	awsParameter = "/payments/collector/endpoint"
	awsRole      = "payments-collector"
	awsBucket    = "payments-archive"
	awsSubnets   = "/payments/collector/subnets"
)

// mockStart is how long the mock may take to start: it is a large Python program.
const mockStart = time.Minute

// awsMock is the stage with the AWS provider and a mock of AWS, moto's server.
type awsMock struct {
	url    string
	server *process

	ssm *ssm.Client
	iam *iam.Client
	s3  *s3.Client
}

func (m *awsMock) introduce() string {
	return "a mock of AWS at " + m.url + ", with the real AWS provider"
}

func (m *awsMock) example() string { return "quickstart-aws" }

func (m *awsMock) start(ctx context.Context, w *World) error {
	program, err := exec.LookPath("moto_server")
	if err != nil {
		return fmt.Errorf("find the mock of AWS: %w; install it with: pip install 'moto[server]'", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	listener.Close() // the mock takes a port number only
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	cmd := exec.Command(program, "-H", host, "-p", port)
	cmd.Env = w.environ()
	if m.server, _, err = launch(ctx, "moto_server", cmd, w.path("logs", "moto.log"), false); err != nil {
		return err
	}
	m.url = "http://" + address
	m.connect()
	return until(ctx, mockStart, "the mock of AWS answers", func() (bool, error) { return m.answers(ctx), m.server.running() })
}

func (m *awsMock) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/moto-api/", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// connect makes the clients of a person who has credentials of the account.
func (m *awsMock) connect() {
	config := aws.Config{Region: awsRegion, BaseEndpoint: aws.String(m.url), Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	m.ssm, m.iam = ssm.NewFromConfig(config), iam.NewFromConfig(config)
	m.s3 = s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
}

func (m *awsMock) stop() {
	if m.server != nil {
		m.server.stop()
	}
}

// environ has the provider reach the mock. The mock takes any credentials, so
// those of the store serve for both.
func (m *awsMock) environ() []string {
	return []string{"AWS_ENDPOINT_URL=" + m.url, "TF_VAR_mock=true"}
}

// check asks for what has a name of its own, and for the subnets that a parameter lists.
func (m *awsMock) check(ctx context.Context, made int) (string, error) {
	if _, err := m.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(awsRole)}); err != nil {
		return "", err
	}
	if _, err := m.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String(awsBucket)}); err != nil {
		return "", err
	}
	list, err := m.value(ctx, awsSubnets)
	if err != nil {
		return "", err
	}
	if subnets := strings.Count(list, "subnet-"); subnets != 3 || made < 10 {
		return "", fmt.Errorf("a round has made %d objects, and the list of subnets is %q", made, list)
	}
	return "the role, the bucket and the parameters are there, and one lists three subnets", nil
}

// value reads a parameter.
func (m *awsMock) value(ctx context.Context, name string) (string, error) {
	out, err := m.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name)})
	if err != nil {
		return "", err
	}
	if out.Parameter == nil {
		return "", fmt.Errorf("parameter %s has no value", name)
	}
	return aws.ToString(out.Parameter.Value), nil
}

func (m *awsMock) edits() []edit {
	return []edit{
		m.parameter("the parameter with the endpoint points elsewhere; the configuration sets it", "https://elsewhere.example.com"),
		m.session(),
		m.bucket(),
	}
}

func (m *awsMock) emergency() edit {
	return m.parameter("the parameter points to the standby in an incident", "https://standby.payments.internal:8443")
}

// parameter is an edit of an attribute that the configuration sets.
func (m *awsMock) parameter(what, value string) edit {
	return edit{
		what: what, address: "aws_ssm_parameter.endpoint",
		make: func(ctx context.Context) error {
			_, err := m.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String(awsParameter), Value: aws.String(value), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true)})
			return err
		},
		stands: func(ctx context.Context) (bool, error) {
			now, err := m.value(ctx, awsParameter)
			return now == value, err
		},
	}
}

// session is an edit of an attribute that the configuration does not set.
func (m *awsMock) session() edit {
	const seconds = 7200
	return edit{
		what: "sessions of the role may last two hours; the configuration does not say", address: "aws_iam_role.collector",
		make: func(ctx context.Context) error {
			_, err := m.iam.UpdateRole(ctx, &iam.UpdateRoleInput{RoleName: aws.String(awsRole), MaxSessionDuration: aws.Int32(seconds)})
			return err
		},
		stands: func(ctx context.Context) (bool, error) {
			out, err := m.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(awsRole)})
			if err != nil || out.Role == nil {
				return false, errors.Join(err, errors.New("the role cannot be read"))
			}
			return aws.ToInt32(out.Role.MaxSessionDuration) == seconds, nil
		},
	}
}

// bucket is a deletion.
func (m *awsMock) bucket() edit {
	return edit{
		what: "the bucket is deleted", address: "aws_s3_bucket.archive",
		make: func(ctx context.Context) error {
			_, err := m.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String(awsBucket)})
			return err
		},
		stands: func(ctx context.Context) (bool, error) {
			_, err := m.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String(awsBucket)})
			var gone *s3types.NotFound
			if errors.As(err, &gone) {
				return true, nil
			}
			return false, err
		},
	}
}
