//go:build long

package bench

import (
	"fmt"
	"testing"

	"arbor/internal/test/gittest"
)

// twenty is how many rulesets the repository has whose pushes and merges are compared with those of one without.
const twenty = 20

// ruledPairs is how many pushes, and merges, are compared.
const ruledPairs = 30

// rules measures what twenty rulesets add to a push of one commit and to a merge, in milliseconds. A push looks at
// the commit and its files; a merge also at reviews and statuses.
func (s *suite) rules(b *testing.B) {
	dir := gittest.Repository(b, 100, 500)
	gittest.Import(b, dir, manyHeads(gittest.Run(b, dir, "rev-parse", "main"), ruledPairs+1))
	a := s.start(b)
	for _, name := range []string{"ruled", "free"} {
		a.create(b, name)
		gittest.Run(b, dir, "push", "-q", a.remote(name), allBranches)
	}
	for n := range twenty {
		rules := `{"type": "non_fast_forward"}, {"type": "deletion"}, {"type": "commit_message_pattern", "parameters":
			{"operator": "regex", "pattern": "forbidden", "negate": true}}, {"type": "committer_email_pattern", "parameters":
			{"operator": "contains", "pattern": "nobody", "negate": true}}`
		if n%2 == 0 {
			rules += `, {"type": "required_linear_history"}`
		}
		a.call(b, "POST", "/repos/alice/ruled/rulesets", fmt.Sprintf(`{"name": "pushes %d", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["refs/heads/other"], "exclude": ["refs/heads/x%d/**"]}}, "rules": [%s]}`, n, n, rules))
	}
	s.part(b, "push", func(b *testing.B) { s.ruledPushes(b, a, dir) })
	for n := range twenty {
		a.call(b, "PUT", fmt.Sprintf("/repos/alice/ruled/rulesets/%d", n+1), `{"conditions": {"ref_name":
			{"include": ["refs/heads/main"], "exclude": []}}, "rules": [{"type": "pull_request", "parameters": {
			"required_approving_review_count": 0, "required_review_thread_resolution": true}}, {"type": "required_status_checks",
			"parameters": {"required_status_checks": [{"context": "build"}]}}, {"type": "non_fast_forward"},
			{"type": "commit_message_pattern", "parameters": {"operator": "regex", "pattern": "forbidden", "negate": true}}]}`)
	}
	s.part(b, "merge", func(b *testing.B) { s.ruledMerges(b, a, dir) })
}

func (s *suite) ruledPushes(b *testing.B, a *arbor, dir string) {
	push := func(name string) func() float64 {
		work, n := b.TempDir(), 0
		gittest.Run(b, work, "clone", "-q", "--branch", "other", dir, ".")
		return func() float64 {
			n++
			gittest.CommitFile(b, work, fmt.Sprintf("pushed%d.txt", n), "text\n")
			return timed(func() { gittest.Run(b, work, "push", "-q", a.remote(name), "HEAD:refs/heads/other") })
		}
	}
	s.moreThan(b, push("ruled"), push("free"))
}

func (s *suite) ruledMerges(b *testing.B, a *arbor, dir string) {
	merge := func(name string) func() float64 {
		c, n := connect(b, a.url), 0
		for k := range ruledPairs + 1 {
			head := fmt.Sprint("head", k)
			a.call(b, "POST", "/repos/alice/"+name+"/pulls", fmt.Sprintf(`{"title": "T", "head": %q, "base": "main"}`, head))
			a.call(b, "POST", "/repos/alice/"+name+"/statuses/"+gittest.Run(b, dir, "rev-parse", head),
				`{"state": "success", "context": "build"}`)
		}
		return func() float64 {
			n++
			ask := request("PUT", fmt.Sprintf("/repos/alice/%s/pulls/%d/merge", name, n), a.token, "")
			return timed(func() {
				if _, err := c.must(ask); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
	s.moreThan(b, merge("ruled"), merge("free"))
}

// moreThan bounds how many milliseconds the first takes more than the second.
func (s *suite) moreThan(b *testing.B, ruled, free func() float64) {
	ruled()
	free()
	_, x, y := pairs(ruledPairs, ruled, free)
	s.atMost(b, (x-y)*1000, 5, "ms-more", seconds(x, y))
}
