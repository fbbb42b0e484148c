package process_test

import (
	"context"
	"testing"
	"time"

	"arbor/internal/git/process"
)

// A process without a cage would take all memory, or the memory of others. It does not start, and nobody is
// asked for its memory.
func TestNoProcessWithoutCage(t *testing.T) {
	t.Parallel()
	r := process.NewRunner("/bin/false", func(_ context.Context, bytes int64) (func(), error) {
		t.Errorf("%d bytes are asked for", bytes)
		return func() {}, nil
	})
	task := process.Task{Dir: t.TempDir(), Limit: time.Minute,
		Command: process.Command{Sub: "cat-file", Flags: []string{"--batch-check"}}}
	for _, none := range []process.Cage{{}, {CPU: time.Minute}, {Memory: process.MinCage - 1}} {
		if err := r.Run(t.Context(), none, task); err == nil {
			t.Errorf("%+v: Run succeeds", none)
		}
		if _, _, err := r.Read(t.Context(), none, task); err == nil {
			t.Errorf("%+v: Read succeeds", none)
		}
		if _, _, _, err := r.Talk(t.Context(), none, task); err == nil {
			t.Errorf("%+v: Talk succeeds", none)
		}
	}
	if n := r.Started(); n != 0 {
		t.Errorf("%d processes were started", n)
	}
}
