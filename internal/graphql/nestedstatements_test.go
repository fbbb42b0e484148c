package graphql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// A query needs as many statements for twenty repositories as for two, whatever it asks for below each. What is
// about issues has a test of its own.
func TestStatementsDoNotGrowWithRepositories(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		w := newWorld(t, engine)
		for n := range gardens {
			w.plant(t, n)
		}
		bot := w.Bot(t, "gardener", "alice", "checks=write,statuses=write,contents=read")
		for n := range gardens {
			at := fmt.Sprintf("/repos/alice/g%d", n)
			for _, name := range []string{"main", "bed"} {
				w.check(t, at, member(t, w.Server, "alice", at+"/commits/"+name, "sha"), bot.Slug+"[bot]")
			}
		}
		for _, p := range below(w.schema, "Repository") {
			if p.ofIssues() {
				continue
			}
			fields := slices.DeleteFunc(p.fields(w.schema), func(f string) bool { return p.leaves(f) || isOfIssues(f) })
			t.Run(p.kind, func(t *testing.T) {
				if w.grows(t, p.query(fields)); !t.Failed() {
					return
				}
				for _, f := range fields { // which one is it?
					w.grows(t, p.query([]string{f}))
				}
			})
		}
	})
}

// ofIssues reports a way through a field that is about issues.
func (p way) ofIssues() bool { return slices.ContainsFunc(p.steps, isOfIssues) }

// isOfIssues reports a field about issues and what they share with pull requests.
func isOfIssues(field string) bool {
	name := strings.TrimRight(field[:strings.IndexAny(field+"(", "({")], " ")
	return slices.Contains([]string{"issue", "issues", "issueOrPullRequest", "label", "labels", "milestone", "milestones",
		"pinnedIssues", "comments", "reactions", "reactionGroups", "closingIssuesReferences", "timelineItems"}, name)
}
