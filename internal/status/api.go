package status

import (
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

// API answers the requests about statuses.
type API struct {
	s   *Service
	git *gitdata.API
}

// NewAPI makes the handlers of the service; g finds commits by their names.
func NewAPI(s *Service, g *gitdata.API) *API { return &API{s, g} }

// payload is GitHub's status.
type payload struct {
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
	Creator     *account.Simple `json:"creator,omitempty"` // not in a combined status
}

func newPayload(s *Status, by *account.Account, api string, i *web.Info) payload {
	p := payload{URL: api + "/statuses/" + string(s.SHA), ID: s.ID, NodeID: account.NodeID(Resource, s.ID), State: s.State.String(),
		Description: s.Description, TargetURL: s.TargetURL, Context: s.Context, CreatedAt: s.CreatedAt, UpdatedAt: s.CreatedAt,
		Creator: account.NewSimple(by, i)}
	if p.Creator != nil {
		p.AvatarURL = &p.Creator.AvatarURL
	}
	return p
}

// combinedPayload is GitHub's combined-commit-status.
type combinedPayload struct {
	State      string        `json:"state"`
	Statuses   []payload     `json:"statuses"`
	SHA        string        `json:"sha"`
	TotalCount int64         `json:"total_count"`
	Repository *repo.Payload `json:"repository"`
	CommitURL  string        `json:"commit_url"`
	URL        string        `json:"url"`
}

// place is the address of the repository's resource.
func place(i *web.Info, a *repo.Access) string {
	return i.API(web.Path("repos", a.Owner.Login, a.Name))
}

// POST /repos/{owner}/{repo}/statuses/{ref...}
//
// Create adds a status to the commit of a full SHA. Errors: 422 for anything
// else, and for the 1,001st of one context.
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
	var by *account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		by, err = account.ByID(tx, made.CreatorID)
		return err
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

// plausibleTarget accepts what a page may make a link of.
func plausibleTarget(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Host != ""
}

// GET /repos/{owner}/{repo}/commits/{ref...}/statuses
// GET /repos/{owner}/{repo}/statuses/{ref...}
//
// List answers a page of all statuses of a commit, the newest first. The ref is
// a branch, a tag or a SHA, which may be abbreviated (decision 50). Errors: 409
// for an empty repository, 422 for what names no commit, as at GitHub.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.git.CommitNamed(r.Context(), a, web.Param(r, "ref"))
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var found []*Status
	var sum Summary
	var people map[account.ID]*account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if found, sum, people, err = load(tx, a.ID, sha, page, list); err == nil {
			tx.OnCommit(func() { web.Link(w, r, page, sum.Total) })
		}
		return err
	})
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	out := make([]payload, len(found))
	for n, s := range found {
		out[n] = newPayload(s, people[s.CreatorID], place(info, a), info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/commits/{ref...}/status
//
// Combine answers what the statuses of a commit come to, with a page of the
// latest of each context. Errors are those of List.
func (api *API) Combine(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.git.CommitNamed(r.Context(), a, web.Param(r, "ref"))
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var found []*Status
	var sum Summary
	var people map[account.ID]*account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if found, sum, people, err = load(tx, a.ID, sha, page, latestOfAll); err == nil {
			tx.OnCommit(func() { web.Link(w, r, page, sum.Contexts) })
		}
		return err
	})
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	at := place(info, a)
	commit := at + "/commits/" + string(sha)
	out := combinedPayload{State: sum.State().String(), Statuses: make([]payload, len(found)), SHA: string(sha), TotalCount: sum.Contexts,
		Repository: repo.NewPayload(a, info), CommitURL: commit, URL: commit + "/status"}
	for n, s := range found {
		out.Statuses[n] = newPayload(s, people[s.CreatorID], at, info)
		out.Statuses[n].Creator = nil
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// load reads a page of statuses, with all that payloads show of them.
func load(
	tx *db.Tx, repoID repo.ID, sha git.SHA, page web.Page,
	of func(*db.Tx, repo.ID, git.SHA, web.Page) ([]*Status, error),
) (found []*Status, sum Summary, people map[account.ID]*account.Account, err error) {
	if found, err = of(tx, repoID, sha, page); err != nil {
		return nil, sum, nil, err
	}
	sums, err := Combined(tx, repoID, sha)
	if err != nil {
		return nil, sum, nil, err
	}
	ids := make([]account.ID, len(found))
	for n, s := range found {
		ids[n] = s.CreatorID
	}
	people, err = account.ByIDs(tx, ids)
	return found, sums[sha], people, err
}
