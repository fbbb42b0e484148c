package pull

import (
	"time"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// SampleStates are the states of a merge box, in the order in which the style page shows them.
var SampleStates = []string{"clean", "unstable", "blocked", "dirty", "draft", "unknown", "gone", "closed", "merged"}

// Sample returns what the template "mergebox" shows of a made-up pull request in one of SampleStates.
func Sample(state string, at time.Time) any {
	alice, bob := page.User{ID: 2, Login: "alice", Type: "User"}, page.User{ID: 3, Login: "bob", Type: "User"}
	a := &repo.Access{Repo: &repo.Repo{Name: "greenhouse", Owner: account.Account{Login: "alice"}},
		Role: account.Admin, Caller: &account.Caller{}}
	r := &request{Number: 12, State: "open", User: &bob, Commits: 1,
		Head: side{Ref: "second-sensor", SHA: "5f3220f0c1d2e3f405162738495a6b7c8d9e0f11",
			Repo: "bob/greenhouse", User: &bob},
		Base: side{Ref: "main", Repo: "alice/greenhouse", User: &alice}}
	b := &box{MergeBox: &pull.MergeBox{Known: true}, scene: &scene{Pull: r, of: &pull.View{},
		Act:     "/alice/greenhouse/pull/12",
		MayEdit: true, MayMerge: true, Frame: page.Frame{Repo: &page.Head{Access: a, Path: "/alice/greenhouse"}}}}
	b.Methods = []pull.MethodText{{Method: "merge", Title: "Merge pull request #12 from bob/second-sensor"},
		{Method: "squash", Title: "Say where a second sensor goes (#12)"}, {Method: "rebase"}}
	b.Method = "merge"
	b.Sum.add(check{Name: "words", Text: "All words are known", Mark: "success", App: "Trellis CI"})
	switch state {
	case "clean":
		b.Approved = []page.User{alice}
	case "unstable":
		b.Against, b.Behind, b.CanUpdate = []page.User{alice}, 3, true
		b.Sum.add(check{Name: "links", Text: "sensors.txt is not linked", Mark: "failure",
			Href: "/alice/greenhouse/runs/3"})
		b.Sum.add(check{Name: "spelling", Text: "Running", Mark: "pending"})
		b.Sum.add(check{Name: "pictures", Text: "No pictures", Mark: "neutral"})
	case "blocked":
		b.Rules, b.AllowsAuto = []string{"At least 1 approving review is required.",
			"The check ci/links must succeed."}, true
	case "dirty":
		no := false
		r.Mergeable, b.Conflicts = &no, []string{"docs/sensors.txt", "README.md"}
	case "draft":
		r.Draft = true
	case "unknown":
		b.Known = false
	case "gone":
		b.HeadGone, r.Head.Repo = true, ""
	case "closed":
		r.State = "closed"
	case "merged":
		r.State, r.Merged, r.MergedBy, r.MergedAt, b.CanDelete = "closed", true, &alice, at, true
		r.MergeCommit = "9b0f5856c0d1e2f30415263748596a7b8c9d0e1f"
	}
	return b
}
