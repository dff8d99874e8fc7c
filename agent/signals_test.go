package agent_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
)

// running runs the agent with an hour between rounds and counts its rounds by receipts.
func (w *world) running(signals *control.Signals) {
	w.t.Helper()
	w.timeouts = agent.Timeouts{Signal: 100 * time.Millisecond, Queue: 100 * time.Millisecond}
	doc := w.agentDoc()
	doc.PollInterval, doc.Signals = control.Duration(time.Hour), signals
	w.declare(doc)
	w.publish(twoThings)
	if err := w.start(); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { w.agent.Run(ctx) })
	w.t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	w.awaitRounds(1)
}

// awaitRounds waits until as many rounds are recorded.
func (w *world) awaitRounds(n int) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(w.receipts()) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%d rounds, want %d", len(w.receipts()), n)
		}
	}
}

// awaitLog waits until the log has a text some number of times.
func awaitLog(t *testing.T, log *syncBuffer, text string, times int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); strings.Count(log.String(), text) < times; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log has not %q %d times:\n%s", text, times, log)
		}
	}
}

// quiet expects that no other round comes while signals are looked for many times.
func (w *world) quiet(n int) {
	w.t.Helper()
	time.Sleep(700 * time.Millisecond)
	if got := len(w.receipts()); got != n {
		w.t.Errorf("%d rounds, want %d", got, n)
	}
}

func (w *world) signal(signer ssh.Signer, environment string, at time.Time) []byte {
	w.t.Helper()
	signed, err := control.SignSignal(control.Signal{Version: control.FormatVersion, Environment: environment, Time: at.UTC()}, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	return signed
}

// ring puts something on the doorbell of a key.
func (w *world) ring(of ssh.Signer, data []byte) {
	w.put(control.SignalKey("prod", control.ApproverID(of.PublicKey())), string(data))
}

// A signal has the agent look before its time, once, and many come to few rounds.
func TestDoorbell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, key := approver(t)
	w.running(&control.Signals{Keys: []string{key}})
	w.quiet(1)
	w.publish(strings.Replace(twoThings, "size = 1", "size = 5", 1))
	w.quiet(1)
	w.ring(ana, w.signal(ana, "prod", w.clock()))
	w.awaitRounds(2)
	if got := w.lastReceipt().Outcome; got != control.OutcomeApplied {
		t.Errorf("outcome %q", got)
	}
	w.quiet(2)
	w.store.set(true) // a store that does not answer rings nothing
	w.quiet(2)
	w.store.set(false)
	for i := range 20 {
		w.ring(ana, w.signal(ana, "prod", w.clock().Add(time.Duration(i+1)*time.Second)))
	}
	w.awaitRounds(3)
	time.Sleep(500 * time.Millisecond)
	if got := len(w.receipts()); got > 5 {
		t.Errorf("twenty signals made %d rounds", got-2)
	}
}

// What does not come from who may ring, or from now, rings nothing.
func TestAttackSignals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, key := approver(t)
	eve, _ := approver(t)
	first := w.signal(ana, "prod", w.clock())
	w.running(&control.Signals{Keys: []string{key}})
	w.ring(ana, first)
	w.awaitRounds(2)
	for name, data := range map[string][]byte{
		"by a stranger":              w.signal(eve, "prod", w.clock().Add(time.Second)),
		"for another environment":    w.signal(ana, "dev", w.clock().Add(time.Second)),
		"of long ago":                w.signal(ana, "prod", w.clock().Add(-2*time.Hour)),
		"of the future":              w.signal(ana, "prod", w.clock().Add(time.Hour)),
		"made for something else":    w.request(ana, "cloud_thing.a").Data,
		"garbage":                    []byte("{"),
		"without end":                make([]byte, 1<<20),
		"the one before, once more ": first,
	} {
		w.ring(ana, data)
		w.quiet(2)
		if t.Failed() {
			t.Fatalf("signal %s", name)
		}
	}
	w.put(control.SignalKey("prod", control.ApproverID(eve.PublicKey())), string(w.signal(eve, "prod", w.clock())))
	w.quiet(2)
}

// Messages of an SQS queue ring too, but S3's about what the agent itself writes. It sets
// the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestSignalsFromAQueue(t *testing.T) {
	client := sqs.NewFromConfig(startMoto(t))
	queue, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("towline")})
	if err != nil {
		t.Fatal(err)
	}
	send := func(body string) {
		t.Helper()
		if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(body)}); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t)
	w.running(&control.Signals{Queue: aws.ToString(queue.QueueUrl)})
	rounds := 1
	for name, test := range map[string]struct {
		body  string
		rings bool
	}{
		"S3 about a publication":           {`{"Records":[{"eventSource":"aws:s3","s3":{"object":{"key":"main/tuf/timestamp.json"}}}]}`, true},
		"S3 about a heartbeat":             {`{"Records":[{"eventSource":"aws:s3","s3":{"object":{"key":"main/environments/prod/agents/a1/heartbeat.json"}}}]}`, false},
		"S3 by EventBridge, about a grant": {`{"source":"aws.s3","detail":{"object":{"key":"environments/prod/grants/g1/request.json"}}}`, true},
		"S3 by EventBridge, about a state": {`{"source":"aws.s3","detail":{"object":{"key":"environments/prod/state/000000000001-000000000002"}}}`, false},
		"CloudTrail by EventBridge":        {`{"source":"aws.ec2","detail-type":"AWS API Call via CloudTrail","detail":{"eventName":"ModifyInstanceAttribute"}}`, true},
		"anything":                         {`hello`, true},
	} {
		send(test.body)
		if test.rings {
			rounds++
			w.awaitRounds(rounds)
		}
		if w.quiet(rounds); t.Failed() {
			t.Fatal(name)
		}
	}
	left, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl, VisibilityTimeout: 0})
	if err != nil || len(left.Messages) != 0 {
		t.Errorf("in the queue is left %v, %v", left, err)
	}
}

// A queue whose AWS configuration cannot be loaded is asked again, which the log says once,
// and its messages ring once it can be. It sets the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestQueueIsAskedAgain(t *testing.T) {
	client := sqs.NewFromConfig(startMoto(t))
	queue, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("towline")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String("hello")}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.writeFile("aws", "")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(w.dir, "aws"))
	t.Setenv("AWS_PROFILE", "later")
	log := w.logged()
	w.running(&control.Signals{Queue: aws.ToString(queue.QueueUrl)})
	const unreadable = "queue for signals not readable; rounds come by schedule"
	awaitLog(t, log, unreadable, 1)
	w.quiet(1)
	if text := log.String(); strings.Count(text, unreadable) != 1 || !strings.Contains(text, "load AWS configuration: ") {
		t.Errorf("the log says\n%s", text)
	}
	w.writeFile("aws", "[profile later]\nregion = eu-central-1\naws_access_key_id = test\naws_secret_access_key = test\n")
	w.awaitRounds(2)
}
