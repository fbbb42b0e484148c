package status

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of commit statuses.
type API struct {
	s   *Service
	git *gitdata.Service
}

// NewAPI returns the handlers of s. It uses g to resolve commit names.
func NewAPI(s *Service, g *gitdata.Service) *API { return &API{s, g} }

// Payload is GitHub's status.
type Payload struct {
	SHA         git.SHA         `json:"-"` // of the commit
	URL         string          `json:"url"`
	AvatarURL   *string         `json:"avatar_url"`
	ID          int64           `json:"id"`
	NodeID      string          `json:"node_id"`
	State       string          `json:"state"`
	Description *string         `json:"description"`
	TargetURL   *string         `json:"target_url"`
	Context     string          `json:"context"`
	CreatedAt   db.Time         `json:"created_at"`
	UpdatedAt   db.Time         `json:"updated_at"`
	Creator     *account.Simple `json:"creator,omitempty"` // omitted in a combined status
}

func newPayload(s *Status, by *account.Account, api string, i *web.Info) Payload {
	p := Payload{SHA: s.SHA, URL: api + "/statuses/" + string(s.SHA), ID: s.ID, NodeID: account.NodeID(Resource, s.ID),
		State:       s.State.String(),
		Description: s.Description, TargetURL: s.TargetURL, Context: s.Context, CreatedAt: s.CreatedAt,
		UpdatedAt: s.CreatedAt,
		Creator:   account.NewSimple(by, i)}
	if p.Creator != nil {
		p.AvatarURL = &p.Creator.AvatarURL
	}
	return p
}

// combinedPayload is GitHub's combined-commit-status.
type combinedPayload struct {
	State      string        `json:"state"`
	Statuses   []Payload     `json:"statuses"`
	SHA        string        `json:"sha"`
	TotalCount int64         `json:"total_count"`
	Repository *repo.Payload `json:"repository"`
	CommitURL  string        `json:"commit_url"`
	URL        string        `json:"url"`
}

// place returns the API address of a repository.
func place(i *web.Info, a *repo.Access) string {
	return i.API(web.Path("repos", a.Owner.Login, a.Name))
}

// POST /repos/{owner}/{repo}/statuses/{ref...}
//
// Create creates a status of the commit with a full SHA. Errors: 422 for anything else, and for more than
// 1,000 statuses of one context.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := read(r)
	if err != nil {
		return err
	}
	name := web.Param(r, "ref")
	if n.SHA, err = git.ParseSHA(name); err != nil {
		return noCommit(name)
	}
	made, err := api.s.Create(r.Context(), a, n)
	if err != nil {
		return err
	}
	by, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*account.Account, error) {
		return account.ByID(tx, made.CreatorID)
	})
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	p := newPayload(made, by, place(info, a), info)
	return web.Created(w, r, p.URL, p)
}

// read reads the body of a new status.
func read(r *http.Request) (Status, error) {
	var n Status
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return n, err
	}
	body.Require("state")
	state := body.Enum("state", names[:]...)
	target, description := body.String("target_url", MaxTargetURL), body.String("description", MaxDescription)
	n.Context = body.String("context", MaxContext).Value
	if n.Context == "" {
		n.Context = DefaultContext
	}
	if target.Value != "" {
		if !plausibleTarget(target.Value) {
			body.Wrong("target_url", errs.Custom, "target_url must use http(s) scheme")
		}
		n.TargetURL = &target.Value
	}
	if description.Value != "" {
		n.Description = &description.Value
	}
	n.State, _ = ParseState(state.Value)
	return n, body.Err()
}

// plausibleTarget reports whether a page may link to the address.
func plausibleTarget(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (strings.EqualFold(u.Scheme, "http") ||
		strings.EqualFold(u.Scheme, "https")) && u.Host != ""
}

// GET /repos/{owner}/{repo}/commits/{ref...}/statuses
// GET /repos/{owner}/{repo}/statuses/{ref...}
//
// List lists all statuses of a commit, newest first. The ref is a branch, a tag or a SHA, which may be
// abbreviated (decision 50). Errors: 409 for an empty repository, 422 for an unknown commit, as at GitHub.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	found, err := api.find(r, a, page, list)
	if err != nil {
		return err
	}
	web.Link(w, r, page, found.sum.Total)
	info := web.From(r.Context())
	out := make([]Payload, len(found.list))
	for n, s := range found.list {
		out[n] = newPayload(s, found.people[s.CreatorID], place(info, a), info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/commits/{ref...}/status
//
// Combine returns the combined status of a commit, with a page of the latest status of each context.
// Errors: those of List.
func (api *API) Combine(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	found, err := api.find(r, a, page, latestOfAll)
	if err != nil {
		return err
	}
	web.Link(w, r, page, found.sum.Contexts)
	info := web.From(r.Context())
	at := place(info, a)
	commit := at + "/commits/" + string(found.sha)
	out := combinedPayload{State: found.sum.State().String(), Statuses: make([]Payload, len(found.list)),
		SHA: string(found.sha), TotalCount: found.sum.Contexts,
		Repository: repo.NewPayload(a, info), CommitURL: commit, URL: commit + "/status"}
	for n, s := range found.list {
		out.Statuses[n] = newPayload(s, found.people[s.CreatorID], at, info)
		out.Statuses[n].Creator = nil
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// commitStatuses is a page of statuses of a commit with everything that payloads show.
type commitStatuses struct {
	sha    git.SHA
	list   []*Status
	sum    Summary
	people map[account.ID]*account.Account
}

// find calls list to read a page of the statuses of the commit {ref...}.
func (api *API) find(
	r *http.Request, a *repo.Access, page web.Page,
	list func(*db.Tx, repo.ID, git.SHA, web.Page) ([]*Status, error),
) (found commitStatuses, err error) {
	if found.sha, err = api.git.CommitNamed(r.Context(), a, web.Param(r, "ref")); err != nil {
		return found, err
	}
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		commit := repo.Of[git.SHA]{In: a, Key: found.sha}
		sums, err := Combined(tx, []repo.Of[git.SHA]{commit})
		if err != nil {
			return err
		}
		if found.sum, found.list = sums[commit], nil; found.sum.Total == 0 {
			return nil
		}
		if found.list, err = list(tx, a.ID, found.sha, page); err != nil {
			return err
		}
		ids := make([]account.ID, len(found.list))
		for n, s := range found.list {
			ids[n] = s.CreatorID
		}
		found.people, err = account.ByIDs(tx, ids)
		return err
	})
	return found, err
}

// ForHook renders a status for a webhook payload. Error: 404.
func ForHook(ctx context.Context, tx *db.Tx, a *repo.Access, id int64) (Payload, error) {
	s, err := byID(tx, a.ID, id)
	if err != nil {
		return Payload{}, err
	}
	by, err := account.ByID(tx, s.CreatorID)
	if err != nil {
		return Payload{}, err
	}
	info := web.From(ctx)
	return newPayload(s, by, place(info, a), info), nil
}
