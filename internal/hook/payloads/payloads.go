// Package payloads renders what deliveries of hooks say. Things stand in them as the API answers them, by its
// own handlers, to a caller who may push to the repository and otherwise sees what everybody sees. So what
// hooks are told and what the API says cannot differ, and of other repositories it holds what is public.
//
//	payloads.go    the table of events, and what all payloads have
//	ask.go         a question to the API
//	issue.go       issues, pull requests, and what is said of them
//	push.go        branches and tags, statuses, checks
//	repository.go  repositories, people, organizations, releases
//
// To render another event, add a line to makers.
package payloads

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/checkrun"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/status"
	"arbor/internal/web"
)

// Sources are the parts of the API whose answers payloads hold.
type Sources struct {
	Repos      *repo.Service
	Issues     *issue.API
	Comments   *comment.API
	Labels     *label.API
	Milestones *milestone.API
	Pulls      *pull.API
	Reviews    *review.API
	Releases   *release.API
	Statuses   *status.API
	Git        *gitdata.API
	OnCommits  *commitcomment.API
	Checks     *checkrun.API
}

// Renderer renders payloads.
type Renderer struct {
	db   *db.DB
	from Sources
}

// New makes a renderer.
func New(d *db.DB, from Sources) *Renderer { return &Renderer{d, from} }

// object is a JSON object.
type object map[string]any

// told is a delivery while it is rendered.
type told struct {
	*Renderer
	ctx   context.Context
	info  *web.Info
	hook  *hook.Hook
	d     *hook.Delivery
	about hook.About
	repo  *repo.Access // nil: the event is of an organization
	org   *account.Account
	by    *account.Account
	user  *account.Account // whom it was done to; nil: nobody
	out   object
}

// makers add to a payload what an event has of its own. What was rendered in the event's transaction stands
// there already. Error: 404 for what is gone.
var makers = map[string]func(t *told) error{
	hook.Ping:                     (*told).ping,
	"push":                        (*told).push,
	"create":                      (*told).ref,
	"delete":                      (*told).ref,
	"fork":                        (*told).fork,
	"star":                        (*told).star,
	"watch":                       (*told).nothing,
	"public":                      (*told).nothing,
	"repository":                  (*told).repository,
	"member":                      (*told).member,
	"organization":                (*told).nothing,
	"issues":                      (*told).issue,
	"issue_comment":               (*told).comment,
	"label":                       (*told).label,
	"milestone":                   (*told).milestone,
	"pull_request":                (*told).pull,
	"pull_request_review":         (*told).review,
	"pull_request_review_comment": (*told).reviewComment,
	"pull_request_review_thread":  (*told).reviewThread,
	"commit_comment":              (*told).commitComment,
	"status":                      (*told).status,
	"release":                     (*told).release,
	"check_run":                   (*told).checkRun,
	"check_suite":                 (*told).checkSuite,
	hook.Dispatch:                 (*told).dispatch,
	"installation":                (*told).nothing, // all of it was rendered before
	"installation_repositories":   (*told).nothing,
}

// Render makes the payload of a delivery. Error: 404 where it shall not be told any more: what it tells of is
// gone, or of another owner than the organization whose hook it is.
func (r *Renderer) Render(ctx context.Context, h *hook.Hook, d *hook.Delivery) ([]byte, error) {
	t := &told{Renderer: r, ctx: ctx, info: web.From(ctx), hook: h, d: d, about: d.About, out: object{}}
	render, known := makers[d.Event]
	if !known {
		return nil, errs.Absent()
	}
	if err := r.db.Read(ctx, t.load); err != nil {
		return nil, err
	}
	t.common()
	if err := render(t); err != nil {
		return nil, err
	}
	for name, part := range t.about.Parts {
		t.out[name] = part
	}
	return web.Marshal(t.out)
}

// load reads whom and what every payload shows.
func (t *told) load(tx *db.Tx) (err error) {
	t.repo, t.org, t.by, t.user = nil, nil, nil, nil
	if t.repo, err = reached(tx, t.hook, t.d); err != nil {
		return err
	}
	people, err := account.ByIDs(tx, []account.ID{t.d.Actor, t.hook.OrgID, t.about.User})
	if err != nil {
		return err
	}
	t.by, t.org, t.user = people[t.d.Actor], people[t.hook.OrgID], people[t.about.User]
	switch {
	case t.repo != nil && t.repo.Owner.Kind == account.Organization && t.org == nil:
		t.org, err = account.ByID(tx, t.repo.OwnerID)
	case t.by == nil && t.repo != nil: // the operator did it: GitHub has a sender always
		t.by, err = account.ByID(tx, t.repo.OwnerID)
	case t.by == nil:
		t.by = t.org
	}
	if t.by == nil && t.org != nil {
		t.by = t.org
	}
	return err
}

// Check is hook.Renderer's: a hook is not sent what it was not told before its right ended.
func (r *Renderer) Check(tx *db.Tx, h *hook.Hook, d *hook.Delivery) error {
	_, err := reached(tx, h, d)
	return err
}

// reached finds the repository that a delivery tells of, unless that was rendered as it went. Error: 404 when
// the repository is gone, or out of reach of the hook.
func reached(tx *db.Tx, h *hook.Hook, d *hook.Delivery) (*repo.Access, error) {
	if d.RepoID == 0 || d.About.Parts["repository"] != nil {
		return nil, nil
	}
	r, err := repo.AccessForHooks(tx, d.RepoID)
	if err != nil {
		return nil, err
	}
	if h.OrgID != 0 && r.OwnerID != h.OrgID {
		return nil, errs.Absent() // it left
	}
	if h.AppID != 0 {
		switch ok, err := app.Reaches(tx, d.Installation, r.Repo); {
		case err != nil:
			return nil, err
		case !ok:
			return nil, errs.Absent()
		}
	}
	return r, nil
}

// common is what all payloads have.
func (t *told) common() {
	if t.d.Action != "" {
		t.out["action"] = t.d.Action
	}
	if t.by != nil {
		t.out["sender"] = account.NewSimple(t.by, t.info)
	}
	if t.repo != nil {
		t.out["repository"] = repo.NewPayload(t.repo, t.info)
	}
	if t.org != nil {
		t.out["organization"] = account.NewOrganization(t.org, t.info)
	}
	if t.d.Installation != 0 {
		t.out["installation"] = object{"id": t.d.Installation, "node_id": app.NodeID(t.d.Installation)}
	}
	if t.about.Changes != nil {
		t.out["changes"] = t.about.Changes
	}
}

func (t *told) nothing() error { return nil }

// zen is what a ping says.
const zen = "Keep it logically awesome."

func (t *told) ping() error {
	path := ""
	if t.repo != nil {
		path = web.Path("repos", t.repo.Owner.Login, t.repo.Name)
	} else if t.org != nil {
		path = web.Path("orgs", t.org.Login)
	}
	t.out["zen"], t.out["hook_id"], t.out["hook"] = zen, t.hook.ID, hook.NewPayload(t.hook, t.info, path)
	return nil
}
