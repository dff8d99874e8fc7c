package agent_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
	"github.com/towline/terraform-provider-towline/internal/objstore/s3"
)

// toldOfDoorbell counts the receipts that tell of a doorbell that is not readable.
func (w *world) toldOfDoorbell() int {
	w.t.Helper()
	n := 0
	for _, receipt := range w.receipts() {
		n += strings.Count(problems(receipt), "Doorbell not readable")
	}
	return n
}

// A doorbell that an S3 server does not let the agent look at is told of once, in the log
// and in a receipt, and once more if that comes again. Nobody is paged, and it is heard as
// soon as it may be. The test sets the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestDoorbellThatMayNotBeRead(t *testing.T) {
	server, err := versitygw.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := server.CreateBucket("control"); err != nil {
		t.Fatal(err)
	}
	for name, value := range server.Env() {
		t.Setenv(name, value)
	}
	ana, anaKey := approver(t)
	ben, benKey := approver(t)
	bell := control.SignalKey("prod", control.ApproverID(ana.PublicKey()))
	var open atomic.Bool
	proxy := objstoretest.Proxy(t, server.Endpoint, objstoretest.Harm{Instead: func(w http.ResponseWriter, r *http.Request) bool {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		denied := !open.Load() && reads && strings.Contains(r.URL.Path+" "+r.URL.Query().Get("prefix"), bell)
		if denied {
			w.WriteHeader(http.StatusForbidden)
		}
		return denied
	}})
	store, err := s3.Open(t.Context(), versitygw.StoreURL(proxy, "control", "fleet"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, store)
	log := w.logged()
	w.running(&control.Signals{Keys: []string{anaKey, benKey}})
	const denied, heard = "Doorbell not readable", "doorbells are readable again"
	awaitLog(t, log, denied, 1)
	if text := log.String(); !strings.Contains(text, "The store does not let this agent look at "+bell+": access denied. Whoever rings there is not heard; rounds come by schedule.") {
		t.Errorf("the log says\n%s", text)
	}
	w.ring(ana, w.signal(ana, "prod", w.clock()))
	for i := range 2 { // Ben is heard, and the receipts of his rounds tell of Ana's bell once
		w.quiet(i + 1)
		w.ring(ben, w.signal(ben, "prod", w.clock().Add(time.Duration(i)*time.Second)))
		w.awaitRounds(i + 2)
	}
	if got := w.toldOfDoorbell(); got != 1 || strings.Count(log.String(), denied) != 1 {
		t.Errorf("%d receipts tell of it; the log says\n%s", got, log)
	}

	open.Store(true)
	awaitLog(t, log, heard, 1)
	w.awaitRounds(4) // Ana's bell, which was rung before
	open.Store(false)
	awaitLog(t, log, denied, 2)
	w.ring(ben, w.signal(ben, "prod", w.clock().Add(time.Minute)))
	w.awaitRounds(5)
	if got := w.toldOfDoorbell(); got != 2 || strings.Count(log.String(), denied) != 2 {
		t.Errorf("%d receipts tell of it; the log says\n%s", got, log)
	}
	if posts := w.slack.take(); len(posts) != 0 {
		t.Errorf("people were told %q", posts)
	}
}
