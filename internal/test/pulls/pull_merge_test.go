package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

const (
	polaris   = "application/vnd.service.polaris-preview+json"
	graduated = "application/vnd.github.v3+json"
)

// orchard is alice's repository with n branches b0, b1, ... of two commits each
// ahead of main, proposed by sam as #1, #2, ... will may push.
func orchard(t *testing.T, s *apitest.Server, n int) {
	t.Helper()
	s.Users(t, "alice", "will", "sam")
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", map[string]string{"a": "a\n", "b": "b\n"})
	for i := range n {
		b := fmt.Sprint("b", i)
		w.commit(b, "First of "+b+"\n\nWhy.", "main", "", one(b+"/1", "1\n"))
		w.commit(b, "Second of "+b, "", "", one(b+"/2", "2\n"))
	}
	w.commit("single", "The only one\n\nIts reason.\n", "main", "", one("single", "s\n"))
	plot, _ := w.plant(t, s, "alice/plot", false)
	s.Grant(t, plot, "will", account.Push)
	for i := range n {
		propose(t, s, "sam", "alice/plot", fmt.Sprint("b", i), "main")
	}
}

// commitJSON is a commit as the Git data API tells it.
type commitJSON struct {
	SHA               string
	Message           string
	Tree              struct{ SHA string }
	Author, Committer struct{ Name, Email string }
	Parents           []struct{ SHA string }
}

func readCommit(t *testing.T, s *apitest.Server, sha string) commitJSON {
	t.Helper()
	var c commitJSON
	s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/commits/" + sha, As: "alice", Status: 200}).JSON(t,
		&c)
	return c
}

// Each option of a merge, in each dialect: what the commit says, whose it is,
// and which parents it has (decision 37). An option that is not there for the
// caller's dialect is dropped, however wrong it is.
func TestMergeOptions(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, accept, send string
		message            string // {n} and {b} stand for the number and the branch
		author             string
		method             string // merge, squash or rebase
	}{
		{"no body", "", "", "Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"null", "", "null", "Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"nothing", "", "{}", "Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"a message", "", `{"commit_message": "Because.\r\n\r\nOf much."}`,
			"Merge pull request #{n} from alice/{b}\n\nBecause.\n\nOf much.", "will", "merge"},
		{"an empty message", "", `{"commit_message": ""}`, "Merge pull request #{n} from alice/{b}",
			"will", "merge"},
		{"a null message", "", `{"commit_message": null}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"a title without its preview", "", `{"commit_title": "T"}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"a wrong title without its preview", "", `{"commit_title": 1, "squash": "x", "merge_method": []}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"squash without its preview", "", `{"squash": true}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"a method of the other dialect", polaris, `{"merge_method": "squash"}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"a title", polaris, `{"commit_title": "Grow"}`, "Grow\n\nAbout {b}", "will", "merge"},
		{"a title and a message", polaris, `{"commit_title": "Grow", "commit_message": "more"}`,
			"Grow\n\nmore", "will", "merge"},
		{"a title of two lines", polaris, `{"commit_title": "Grow\nmore"}`, "Grow more\n\nAbout {b}",
			"will", "merge"},
		{"an empty title", polaris, `{"commit_title": ""}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
		{"squash", polaris, `{"squash": true}`, "About {b}", "sam", "squash"},
		{"no squash", polaris, `{"squash": false}`, "Merge pull request #{n} from alice/{b}\n\nAbout {b}",
			"will", "merge"},
		{"squash with all", polaris, `{"squash": true, "commit_title": "T", "commit_message": "M"}`, "T\n\nM",
			"sam", "squash"},
		{"GitHub: nothing", graduated, "", "Merge pull request #{n} from alice/{b}\n\nAbout {b}",
			"will", "merge"},
		{"GitHub: title", graduated, `{"commit_title": "T", "commit_message": "M", "merge_method": "merge"}`,
			"T\n\nM", "will", "merge"},
		{"GitHub: squash", graduated, `{"squash": true}`, "About {b}", "sam", "squash"},
		{"GitHub: merge_method squash", graduated, `{"merge_method": "squash", "commit_title": "T"}`, "T",
			"sam", "squash"},
		{"GitHub: rebase", graduated, `{"merge_method": "rebase"}`, "Second of {b}", "A U Thor", "rebase"},
		{"GitHub: null method", graduated, `{"merge_method": null}`,
			"Merge pull request #{n} from alice/{b}\n\nAbout {b}", "will", "merge"},
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		orchard(t, s, len(cases))
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				b, n, base := fmt.Sprint("b", i), int64(i+1), s.Tip(t, "alice", "alice/plot", "main")
				head := s.Tip(t, "alice", "alice/plot", b)
				do := merging("will", "alice/plot", n, c.send)
				if c.accept != "" {
					do.Headers = map[string]string{"Accept": c.accept}
				}
				do.Status, do.Want = 200,
					`{"sha": "$any", "merged": true, "message": "Pull Request successfully merged"}`
				var done struct{ SHA string }
				s.Check(t, do).JSON(t, &done)
				if now := s.Tip(t, "alice", "alice/plot", "main"); now != done.SHA {
					t.Errorf("main is at %s, the answer says %s", now, done.SHA)
				}
				p := read(t, s, "", "alice/plot", n)
				if !p.Merged || p.MergeCommit == nil || *p.MergeCommit != done.SHA ||
					p.MergedBy.Login != "will" || p.Head.SHA != head || p.Commits != 2 || p.Files != 2 {
					t.Errorf("afterwards it is %+v", p)
				}
				made := readCommit(t, s, done.SHA)
				if want := strings.NewReplacer("{n}", fmt.Sprint(n), "{b}",
					b).Replace(c.message); strings.TrimRight(made.Message, "\n") != want {
					t.Errorf("the message is %q, want %q", made.Message, want)
				}
				if made.Author.Name != c.author || made.Committer.Name != "will" {
					t.Errorf("author %q, committer %q; want %q and will", made.Author.Name,
						made.Committer.Name, c.author)
				}
				var parents []string
				for _, p := range made.Parents {
					parents = append(parents, p.SHA)
				}
				switch got := strings.Join(parents, " "); c.method {
				case "merge":
					if got != base+" "+head {
						t.Errorf("parents %s, want %s %s", got, base, head)
					}
				case "squash":
					if got != base {
						t.Errorf("parents %s, want %s", got, base)
					}
				case "rebase":
					first := readCommit(t, s, got)
					if first.Message != "First of "+b+"\n\nWhy." || len(first.Parents) != 1 ||
						first.Parents[0].SHA != base || first.Author.Name != "A U Thor" ||
						first.Committer.Name != "will" {
						t.Errorf("the first commit is %+v", first)
					}
				}
			})
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// A squash of one commit is called as that commit is.
func TestSquashOfOneCommit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		orchard(t, s, 0)
		p := propose(t, s, "sam", "alice/plot", "single", "main")
		c := merging("will", "alice/plot", p.Number, `{"squash": true}`)
		c.Status, c.Headers = 200, map[string]string{"Accept": polaris}
		var done struct{ SHA string }
		s.Check(t, c).JSON(t, &done)
		if made := readCommit(t, s, done.SHA); made.Message != "The only one\n\nIts reason." {
			t.Errorf("the message is %q", made.Message)
		}
	})
}

// What cannot be merged is refused in the words of GitHub, and nothing changes
// (decision 37, code-hosting.md: merge failure body).
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	const (
		not  = `{"message": "Pull Request is not mergeable", "documentation_url": "$any", "errors": "$absent"}`
		head = `{"message": "Head branch was modified. Review and try the merge again.", "documentation_url": "$any", "errors": "$absent"}`
	)
	bad := func(field, code string) string {
		return fmt.Sprintf(`{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": %q, "code": %q}]}`, field, code)
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		orchard(t, s, 3)
		base, b0 := s.Tip(t, "alice", "alice/plot", "main"), s.Tip(t, "alice", "alice/plot", "b0")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam",
			Send: `{"title": "d", "head": "single", "base": "main", "draft": true}`, Status: 201,
			Want: `{"number": 4, "draft": true, "mergeable": true}`})
		s.Ask(t, "sam", "PATCH /repos/alice/plot/pulls/2", `{"state": "closed"}`, 200)
		put := func(n int, send, accept string, status int, want string) apitest.Case {
			c := merging("will", "alice/plot", int64(n), send)
			c.Name, c.Status, c.Want = fmt.Sprintf("#%d %.60s %s", n, send, accept), status, want
			if accept != "" {
				c.Headers = map[string]string{"Accept": accept}
			}
			return c
		}
		cases := []apitest.Case{
			put(9, "", "", 404, `{"message": "Not Found"}`),
			put(2, "", "", 405, not),
			put(4, "", "", 405, `{"message": "Pull Request is still a draft"}`),
			put(1, `{"sha": "`+base+`"}`, "", 409, head),
			put(1, `{"sha": "`+b0[:10]+`"}`, "", 409, head),
			put(1, `{"sha": "main"}`, "", 409, head),
			put(2, `{"sha": "`+base+`"}`, "", 405, not),
			put(1, `{"sha": 1}`, "", 422, bad("sha", "invalid")),
			put(1, `{"sha": []}`, "", 422, bad("sha", "invalid")),
			put(1, `{"commit_message": 1}`, "", 422, bad("commit_message", "invalid")),
			put(1, `{"commit_message": {}}`, "", 422, bad("commit_message", "invalid")),
			put(1, `{"commit_message": "a\u0000b"}`, "", 422, `{"errors": [{"field": "commit_message"}]}`),
			put(1, `{"commit_message": "`+strings.Repeat("x", 65_537)+`"}`, "", 422,
				`{"errors": [{"field": "commit_message"}]}`),
			put(1, `{"commit_title": 1}`, polaris, 422, bad("commit_title", "invalid")),
			put(1, `{"commit_title": "a\u0000b"}`, polaris, 422, `{"errors": [{"field": "commit_title"}]}`),
			put(1, `{"squash": "yes"}`, polaris, 422, bad("squash", "invalid")),
			put(1, `{"squash": 1}`, polaris, 422, bad("squash", "invalid")),
			put(1, `{"merge_method": "octopus"}`, graduated, 422, bad("merge_method", "invalid")),
			put(1, `{"merge_method": 1}`, graduated, 422, bad("merge_method", "invalid")),
			put(1, `{"merge_method": ""}`, graduated, 422, bad("merge_method", "invalid")),
			put(1, `{"merge_method": "merge", "squash": true}`, graduated, 422,
				bad("merge_method", "invalid")),
			put(1, `[]`, "", 400, `{"message": "Body should be a JSON object"}`),
			put(1, `{`, "", 400, `{"message": "Problems parsing JSON"}`),
			put(1, "{\"commit_message\": \"\xff\"}", "", 400, `{"message": "Problems parsing JSON"}`),
			{Name: "no POST", Do: "POST /repos/alice/plot/pulls/1/merge", As: "will", Status: 405,
				Has: map[string]string{"Allow": "GET, HEAD, OPTIONS, PUT"}},
			{Name: "nothing moved", Do: "GET /repos/alice/plot/git/ref/heads/main", Status: 200,
				Want: `{"object": {"sha": "` + base + `"}}`},
			put(1, `{"sha": "`+strings.ToUpper(b0)+`"}`, "", 200, `{"merged": true}`),
			put(1, "", "", 405, not),
		}
		for _, n := range []string{"0", "01", "-1", "1e0", "x", "99999999999999999999", "%20"} {
			cases = append(cases, apitest.Case{Do: "PUT /repos/alice/plot/pulls/" + n + "/merge", As: "will",
				Status: 404},
				apitest.Case{Do: "GET /repos/alice/plot/pulls/" + n, Status: 404},
				apitest.Case{Do: "PATCH /repos/alice/plot/pulls/" + n, As: "will", Send: "{}", Status: 404},
				apitest.Case{Do: "GET /repos/alice/plot/pulls/" + n + "/files", Status: 404},
				apitest.Case{Do: "GET /repos/alice/plot/pulls/" + n + "/commits", Status: 404},
				apitest.Case{Do: "GET /alice/plot/pull/" + n + ".diff", Status: 404})
		}
		s.Run(t, cases)
	})
}

// What a merge of a pull request whose head is in the base already would do:
// nothing; and a rebase of what has merges or conflicts half way is refused.
func TestNothingToMerge(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", map[string]string{"a": "a\n"})
		w.commit("in", "In", "main", "", one("in", "in\n"))
		w.commit("there", "There and back", "main", "", one("a", "b\n"))
		w.commit("there", "Back", "", "", one("a", "a\n"))
		w.commit("half", "Change a", "main", "", one("a", "x\n"))
		w.commit("half", "Change it as main does", "", "", one("a", "c\n"))
		w.commit("other", "Other", "main", "", one("a", "c\n"))
		_, dir := w.plant(t, s, "alice/plot", false)
		in := propose(t, s, "alice", "alice/plot", "in", "main")
		there := propose(t, s, "alice", "alice/plot", "there", "main")
		half := propose(t, s, "alice", "alice/plot", "half", "other")
		gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", "alice/plot"), "in:main")
		rebase := func(n int64) apitest.Case {
			c := merging("alice", "alice/plot", n, `{"merge_method": "rebase"}`)
			c.Status, c.Headers = 405, map[string]string{"Accept": graduated}
			return c
		}
		before := s.Tip(t, "alice", "alice/plot", "main")
		s.Check(t, rebase(in.Number))
		c := merging("alice", "alice/plot", in.Number, "")
		c.Status = 405
		s.Check(t, c)
		s.Check(t, rebase(half.Number)) // it merges as a whole, its first commit does not
		if p := read(t, s, "", "alice/plot", half.Number); p.Mergeable == nil || !*p.Mergeable {
			t.Errorf("two that end alike do not merge: %+v", p)
		}
		if now := s.Tip(t, "alice", "alice/plot", "main"); now != before {
			t.Errorf("main has moved to %s", now)
		}
		// Commits that change nothing together are merged all the same.
		c = merging("alice", "alice/plot", there.Number, "")
		c.Status = 200
		s.Check(t, c)
		truth(t, s, "alice", "alice/plot")
	})
}

// No request has tested the merge since the base moved: merging tests it, and a conflict is rejected
// (decision 37).
func TestMergeFindsOutByItself(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", map[string]string{"a": "a\n", "b": lines(20, -1)})
		w.commit("clash", "Change a", "main", "", one("a", "theirs\n"))
		w.commit("near", "Change b", "main", "", one("b", lines(20, 19)))
		w.commit("main", "Change both", "", "", map[string]string{"a": "ours\n", "b": lines(20, 0)})
		dir := w.write(t)
		for n, method := range []string{"merge", "squash", "rebase"} {
			name := fmt.Sprint("alice/plot", n)
			r := s.Repo(t, name, false)
			gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", name), "main~:refs/heads/main",
				"clash", "near")
			clash, near := propose(t, s, "alice", name, "clash", "main"),
				propose(t, s, "alice", name, "near", "main")
			if !*clash.Mergeable || !*near.Mergeable {
				t.Errorf("before: %+v, %+v", clash, near)
			}
			gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", name), "main")
			for _, c := range []apitest.Case{
				{Do: fmt.Sprintf("PUT /repos/%s/pulls/%d/merge", name, clash.Number), Status: 405,
					Want: `{"message": "Pull Request is not mergeable", "documentation_url": "$any"}`},
				{Do: fmt.Sprintf("PUT /repos/%s/pulls/%d/merge", name, near.Number), Status: 200,
					Want: `{"merged": true}`},
			} {
				c.As, c.Send, c.Headers = "alice", `{"merge_method": "`+method+`"}`,
					map[string]string{"Accept": graduated}
				s.Check(t, c)
			}
			want, _ := gitMerge(t, dir, "main", "near")
			if got := gittest.Run(t, s.Objects(t, r.ID).Dir(), "rev-parse",
				s.Tip(t, "alice", name, "main")+"^{tree}"); got != want {
				t.Errorf("%s: the tree is %s, git merges to %s", method, got, want)
			}
			if p := read(t, s, "", name, clash.Number); p.State != "open" || p.Merged || p.Mergeable == nil ||
				*p.Mergeable {
				t.Errorf("%s: what conflicts is %+v", method, p)
			}
			truth(t, s, "alice", name)
		}
	})
}
