package issue

import (
	"context"
	"encoding/json"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany lists the issues of several repositories, each as GET /repos/{owner}/{repo}/issues shows it. Those
// with issues switched off have none. Errors: [repo.Errors] with 422 for an invalid milestone; 422.
func (s *Service) ListMany(
	ctx context.Context, list []*repo.Access, o ListOptions, at web.Page,
) (map[repo.ID]*web.List[json.Marshaler], error) {
	var err, failed error
	if o.Labels, err = foldLabels(o.Labels); err != nil {
		return nil, err
	}
	var p *page
	var found []foundIn
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p = newPage(ctx, list...)
		if found, failed, err = s.findIn(tx, list, o, at); err != nil {
			return err
		}
		for _, f := range found {
			p.issues = append(p.issues, f.issues...)
		}
		return p.load(tx)
	})
	if err == nil {
		err = s.prepareBodies(web.Unsent(ctx), p)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.ID]*web.List[json.Marshaler]{}
	for _, f := range found {
		l := &web.List[json.Marshaler]{Total: f.total, More: at.Offset()+at.Size < f.total}
		for _, i := range f.issues {
			l.Rows = append(l.Rows, nested{p, i})
		}
		out[f.repo] = l
	}
	return out, failed
}

// foundIn is a page of the issues of a repository, and how many there are.
type foundIn struct {
	repo   repo.ID
	issues []*Issue
	total  int64
}

// maxTogether is the last row of a list up to which the lists of several repositories are read together.
const maxTogether = 200

// findIn finds a page of the issues of each repository. failed is a [repo.Errors] of those without one.
func (s *Service) findIn(
	tx *db.Tx, list []*repo.Access, o ListOptions, at web.Page,
) (found []foundIn, failed, err error) {
	var ids []repo.ID
	for _, a := range list {
		if a.HasIssues {
			ids = append(ids, a.ID)
		}
	}
	in, failed := o.in(tx, ids)
	if failed != nil && !repo.AreSome(failed) {
		return nil, nil, failed
	}
	var queries []finder.Query
	for _, id := range ids {
		if in[id] != nil {
			found = append(found, foundIn{repo: id})
			queries = append(queries, finder.Query{Repos: []finder.Repo{{ID: id}}, Where: in[id], Order: o.Order})
		}
	}
	if last := at.Offset() + at.Size; len(queries) > 1 && last <= maxTogether {
		issues, each, err := s.FindEach(tx, queries, last)
		for n := range issues {
			found[n].issues, found[n].total = issues[n][min(at.Offset(), int64(len(issues[n]))):], each[n].Total
		}
		return found, failed, err
	}
	for n := range queries {
		issues, f, err := s.Find(tx, queries[n], at.Offset(), at.Size)
		if err != nil {
			return nil, nil, err
		}
		found[n].issues, found[n].total = issues, f.Total
	}
	return found, failed, nil
}

// ListPinnedNumbers returns the numbers of the pinned issues, open and closed, for GraphQL. Error: 410.
func (api *API) ListPinnedNumbers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	numbers := []int64{}
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		list, err := PinnedIn(tx, a.ID)
		for _, i := range list {
			numbers = append(numbers, i.Number)
		}
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, numbers)
}

// Numbered loads issues by number, as GET /repos/{owner}/{repo}/issues/{number} returns them. Pull requests
// and unknown numbers are missing. Error: 410.
func (s *Service) Numbered(
	ctx context.Context, a *repo.Access, numbers []int64,
) (map[int64]json.Marshaler, error) {
	if err := Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	var p *Page
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		p = NewPage(ctx, a)
		p.Full()
		found, err := Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		for _, i := range found {
			if !i.Pull {
				p.Add(i)
			}
		}
		return p.Load(tx)
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), s)
	}
	if err != nil {
		return nil, err
	}
	out := map[int64]json.Marshaler{}
	for _, i := range p.Issues() {
		out[i.Number] = p.Issue(i)
	}
	return out, nil
}
