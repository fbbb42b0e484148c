package journal_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"arbor/internal/journal"
)

// withID stands for a request's context.
func withID(id string) context.Context {
	return context.WithValue(context.Background(), journal.IDKey{}, id)
}

// An operator who looks for what a request did finds each line of it by its id, in both forms of the
// log, and the lines of a job by the job's; a request's own line says its id once.
func TestLinesCarryTheID(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(io.Writer, slog.Leveler) slog.Handler{
		"text": journal.Text, "json": journal.JSON,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			log := slog.New(open(&text, slog.LevelInfo))
			ctx := withID("abc-1")
			log.WarnContext(ctx, "git was ended", "command", "log")
			log.With("part", "x").WithGroup("g").InfoContext(context.WithoutCancel(ctx), "later")
			log.Warn("of nobody")
			job := journal.WithJob(ctx, "packing")
			log.WarnContext(job, "packing failed")
			journal.Log(ctx, log, &journal.Line{Method: "GET", Route: "/", ID: "abc-1",
				Level: slog.LevelError,
				Error: errors.New("x")})
			lines := strings.Split(strings.TrimSpace(text.String()), "\n")
			if len(lines) != 5 {
				t.Fatalf("%d lines: %s", len(lines), &text)
			}
			for i, want := range []int{1, 1, 0, 0, 1} {
				if strings.Count(lines[i], "abc-1") != want {
					t.Errorf("line %d has the id %d times: %s", i, strings.Count(lines[i], "abc-1"), lines[i])
				}
			}
			if id := journal.ID(job); !strings.HasPrefix(id, "packing-") || !strings.Contains(lines[3], id) {
				t.Errorf("the job is %q, the line: %s", id, lines[3])
			}
			if id := journal.ID(journal.WithJobOf(t.Context(), "removal",
				journal.ID(ctx))); id != "removal-abc-1" {
				t.Errorf("a job that a request left is %q", id)
			}
			if journal.ID(journal.WithJob(ctx, "packing")) == journal.ID(job) {
				t.Error("two jobs have one id")
			}
		})
	}
}
