package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

const (
	// queueWait is the longest that SQS holds a request open, in seconds.
	queueWait = 20
	// queueBatch is how many messages SQS gives at once.
	queueBatch = 10
	// queuePause is the time after a failure until the queue is asked again.
	queuePause = time.Minute
	// maxEvent bounds what is looked at of a message; SQS allows a megabyte.
	maxEvent = 1 << 20
)

// listenToQueue has messages ring until ctx ends. They are removed as they come: one
// that is lost costs nothing, because rounds come anyway.
func (a *Agent) listenToQueue(ctx context.Context, queue string, ring chan<- struct{}) {
	var from *sqs.Client
	failing := false
	for ctx.Err() == nil {
		var messages []types.Message
		var err error
		if from == nil {
			from, err = queueClient(ctx, queue)
		}
		if err == nil {
			messages, err = receive(ctx, from, queue)
		}
		if err != nil && ctx.Err() == nil {
			if !failing {
				a.log.Warn("queue for signals not readable; rounds come by schedule", "queue", queue, "error", err)
			}
			failing = true
			pause(ctx, a.timeouts.Queue)
			continue
		}
		failing = false
		for _, message := range messages {
			if concerns(a.config.Environment, aws.ToString(message.Body)) {
				a.log.Debug("signal from the queue", "id", aws.ToString(message.MessageId))
				select {
				case ring <- struct{}{}:
				default: // it rings already
				}
			}
		}
		if len(messages) > 0 {
			pause(ctx, time.Second)
		}
	}
}

// queueClient asks in the region that a queue's URL names, or else in that of the environment.
func queueClient(ctx context.Context, queue string) (*sqs.Client, error) {
	var options []func(*awsconfig.LoadOptions) error
	if parsed, err := url.Parse(queue); err == nil {
		if labels := strings.Split(parsed.Hostname(), "."); len(labels) > 3 && labels[0] == "sqs" {
			options = append(options, awsconfig.WithRegion(labels[1]))
		}
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	return sqs.NewFromConfig(cfg), nil
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// receive waits for messages and removes them.
func receive(ctx context.Context, from *sqs.Client, queue string) ([]types.Message, error) {
	out, err := from.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(queue), MaxNumberOfMessages: queueBatch, WaitTimeSeconds: queueWait})
	if err != nil || len(out.Messages) == 0 {
		return nil, err
	}
	var entries []types.DeleteMessageBatchRequestEntry
	for _, m := range out.Messages {
		entries = append(entries, types.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
	}
	_, err = from.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: aws.String(queue), Entries: entries})
	return out.Messages, err
}

// concerns tells whether a message is worth a look. Of S3's own notifications those about
// what agents write are not: each round would ask for the next.
func concerns(environment, body string) bool {
	if len(body) > maxEvent {
		return false
	}
	var event struct {
		Records []struct {
			S3 *struct{ Object struct{ Key string } }
		}
		Detail struct{ Object struct{ Key string } }
	}
	if json.Unmarshal([]byte(body), &event) != nil {
		return true
	}
	var keys []string
	for _, record := range event.Records {
		if record.S3 == nil {
			return true
		}
		keys = append(keys, record.S3.Object.Key)
	}
	if key := event.Detail.Object.Key; key != "" { // S3 by way of EventBridge
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return true
	}
	for _, key := range keys {
		if plain, err := url.QueryUnescape(key); err == nil && byPeople(environment, plain) {
			return true
		}
	}
	return false
}

// byPeople tells whether people, and not agents, write a key that agents act on.
func byPeople(environment, key string) bool {
	for _, part := range []string{control.MetadataPrefix, control.GrantsPrefix(environment), control.EnvironmentPrefix(environment) + "decisions/", control.SignalsPrefix(environment)} {
		if strings.HasPrefix(key, part) || strings.Contains(key, "/"+part) {
			return true
		}
	}
	return false
}
