package code

import (
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// mark is what builds and checks say of a commit.
type mark struct {
	State  string // success, failure or pending
	Total  int
	Passed int
	Checks []check
}

// check is one of them.
type check struct {
	Name, State, About string
	Href               string // empty: it leads nowhere
}

// maxMarked is how many commits are asked about at one time.
const maxMarked = 100

// marks asks what is said of commits, by SHA. A token that may not see it sees nothing.
func (p *Pages) marks(r *http.Request, a *repo.Access, shas []string) (map[string]*mark, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	shas = shas[:min(len(shas), maxMarked)]
	q := url.Values{"shas": {strings.Join(shas, ",")}, "per_page": {"100"}}
	var statuses map[string]struct {
		Statuses []struct {
			State, Context, Description string
			TargetURL                   string `json:"target_url"`
		}
	}
	var runs map[string]struct {
		Runs []struct {
			Name, Status, Conclusion string
			HTMLURL                  string `json:"html_url"`
			Output                   struct{ Title string }
		} `json:"check_runs"`
	}
	err := p.ask(r, p.do.Statuses, of(a, "/commits/", shas[0], "/status"), q, &statuses)
	if err != nil && !errs.Is(err, errs.Forbidden) {
		return nil, err
	}
	err = p.ask(r, p.do.Checks, of(a, "/commits/", shas[0], "/check-runs"), q, &runs)
	if err != nil && !errs.Is(err, errs.Forbidden) {
		return nil, err
	}
	marks := map[string]*mark{}
	for sha, of := range statuses {
		for _, s := range of.Statuses {
			add(marks, sha, check{s.Context, plain(s.State), s.Description, page.WebAddress(s.TargetURL)})
		}
	}
	for sha, of := range runs {
		for _, run := range of.Runs {
			state := "pending"
			if run.Status == "completed" {
				state = plain(run.Conclusion)
			}
			add(marks, sha, check{run.Name, state, run.Output.Title, page.WebAddress(run.HTMLURL)})
		}
	}
	return marks, nil
}

// plain reduces the states of statuses and checks to one of three.
func plain(state string) string {
	switch state {
	case "success", "neutral", "skipped":
		return "success"
	case "pending", "queued", "in_progress", "":
		return "pending"
	}
	return "failure"
}

func add(marks map[string]*mark, sha string, c check) {
	m := marks[sha]
	if m == nil {
		m = &mark{State: "success"}
		marks[sha] = m
	}
	m.Total++
	m.Checks = append(m.Checks, c)
	switch {
	case c.State == "success":
		m.Passed++
	case c.State == "failure" || m.State == "success":
		m.State = c.State
	}
}
