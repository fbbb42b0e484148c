//go:build long

package bench

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// reset measures what a test pays for a clean world: POST /admin/reset together
// with the first request after it, on a store of the demo's size and on a larger
// one. Resets that follow each other at once find the next life not ready yet;
// those that a test's own work comes in between find it.
func (s *suite) reset(b *testing.B) {
	for _, c := range []struct {
		name          string
		repos, issues int // issues of each repository
	}{{"demo", 4, 3}, {"large", 20, 50}} {
		b.Run(c.name, func(b *testing.B) {
			admin := s.resettable(b, seedOf(c.repos, c.issues))
			a := s.serve(b, filepath.Join(b.TempDir(), "none"), "arb_alice")
			made := fmt.Sprintf("%d repositories, %d issues", c.repos, c.repos*c.issues)
			for _, pause := range []time.Duration{0, 300 * time.Millisecond} {
				name, detail := "at-once", "one after the other, "
				if pause > 0 {
					name, detail = "after-work", fmt.Sprintf("%v apart, ", pause)
				}
				s.part(b, name, func(b *testing.B) {
					list := a.resets(b, admin, pause)
					s.atMost(b, median(list), 100, "ms", detail+made)
				})
			}
		})
	}
}

// resettable configures the next server with a seed for resets, and returns the address to post to.
func (s *suite) resettable(b *testing.B, text string) (admin string) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "seed.yaml")
	testkit.NoError(b, os.WriteFile(file, []byte(text), 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(b, err)
	admin = l.Addr().String()
	testkit.NoError(b, l.Close())
	for name, value := range map[string]string{"SEED": file, "EPHEMERAL": "true", "ADMIN_LISTEN": admin} {
		b.Setenv("ARBOR_"+name, value)
	}
	return "http://" + admin
}

// resets returns the durations of several resets, each including the next request, in milliseconds. Each
// has something to undo.
func (a *arbor) resets(b *testing.B, admin string, pause time.Duration) (list []float64) {
	b.Helper()
	c := connect(b, a.url)
	for range 31 {
		if _, err := c.must(request("POST", "/repos/alice/r0/issues", a.token,
			`{"title":"one more"}`)); err != nil {
			b.Fatal(err)
		}
		time.Sleep(pause)
		took := timed(func() {
			answer, err := http.Post(admin+"/admin/reset", "", nil)
			testkit.NoError(b, err)
			answer.Body.Close()
			if answer.StatusCode != http.StatusNoContent {
				b.Fatalf("the reset: %s", answer.Status)
			}
			if _, err := c.must(get("/repos/alice/r0/issues", a.token)); err != nil {
				b.Fatal(err)
			}
		})
		list = append(list, took*1000)
	}
	return list
}

// seedOf writes a seed with repositories of some commits, issues and a pull request each.
func seedOf(repos, issues int) string {
	var b strings.Builder
	b.WriteString("users:\n  - {login: alice, tokens: [arb_alice]}\n  - {login: bob}\nrepos:\n")
	for r := range repos {
		fmt.Fprintf(&b, "  - name: alice/r%d\n    stars: [bob]\n    files: {README.md: x, docs/a: a, docs/b: b}\n    commits:\n", r)
		for n := range 5 {
			fmt.Fprintf(&b, "      - {message: commit %d, files: {src/f%d: \"%d\"}}\n", n, n, n)
		}
		b.WriteString("    branches: [{name: feature, files: {feature: x}}]\n    issues:\n")
		for n := range issues {
			fmt.Fprintf(&b, "      - {title: issue %d, author: bob, body: Something is wrong with number %d, labels: [bug], comments: [{body: Indeed}]}\n", n, n)
		}
		b.WriteString("    pulls: [{title: feature, head: feature}]\n")
	}
	return b.String()
}
