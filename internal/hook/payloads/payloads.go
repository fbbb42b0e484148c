// Package payloads renders the payloads of webhook deliveries: the state at the event, as shown to a user with
// push access to the repository and otherwise only public access. Objects have the form of the API's answers,
// rendered by the features' own functions.
//
//	payloads.go    the table of events; Tell: rendering in the event's transaction, and what all payloads have
//	told.go        the form in which that is stored, without addresses
//	send.go        Render: rights are asked, and what git knows is added, when a delivery is first sent
//	issue.go       issues, pull requests, and what is said of them
//	push.go        branches and tags, statuses, checks; git.go: what git knows of them
//	repository.go  repositories, people, organizations, releases
//
// To render another event, add a line to makers.
//
// What becomes of what was rendered, until it is sent:
//
//	transition                           what is sent
//	changed, closed, locked, completed   what was at the event
//	deleted, but for the repository      the same
//	repository renamed, hidden, shown    the same; addresses have its name of then
//	repository transferred               the same, to its own hooks; the organization that had it: nothing
//	repository deleted                   to its organization and to Apps events of the repository itself, else
//	                                     nothing; its own hooks are gone
//	App uninstalled, suspended           nothing
//	a fork that it names is hidden       what there is now, without the fork
//	the account that did it is deleted   what there is now, by ghost
//	objects are purged                   what there is now
//	a request with many large events     of the first MiB what was at the event, of the rest what there is now
//	written by the version before        what there is now
package payloads

import (
	"context"
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Sources are what renders the parts of payloads.
type Sources struct {
	Repos    *repo.Service
	Issues   *issue.Service
	Pulls    *pull.Service
	Releases *release.Service
	Checks   *checkrun.Service
	Git      *gitdata.Service
}

// Renderer renders payloads.
type Renderer struct {
	db   *db.DB
	from Sources
}

// New returns a renderer.
func New(d *db.DB, from Sources) *Renderer { return &Renderer{d, from} }

// object is a JSON object.
type object map[string]any

// teller is an event while it is rendered in a transaction.
type teller struct {
	*batch
	*hook.Telling
	org  *account.Account
	by   *account.Account
	user *account.Account // whom it was done to; nil: nobody
	out  object
	not  []git.SHA // of a new branch: the tips of the others
}

// batch is what the events of one transaction share.
type batch struct {
	*Renderer
	tx       *db.Tx
	ctx      context.Context
	info     *web.Info
	repo     *repo.Access // nil: the events are an organization's
	rendered map[string]json.RawMessage
}

// makers add to a payload what an event has of its own. What the event holds already is not rendered again.
// Error: 404 for what is gone.
var makers = map[string]func(t *teller) error{
	hook.Ping:                     (*teller).ping,
	"push":                        (*teller).push,
	"create":                      (*teller).ref,
	"delete":                      (*teller).ref,
	"fork":                        (*teller).fork,
	"star":                        (*teller).star,
	"watch":                       (*teller).nothing,
	"public":                      (*teller).nothing,
	"repository":                  (*teller).repository,
	"member":                      (*teller).member,
	"organization":                (*teller).nothing,
	"team":                        (*teller).nothing, // package team renders it, as of the next two
	"team_add":                    (*teller).nothing,
	"membership":                  (*teller).nothing,
	"issues":                      (*teller).issue,
	"issue_comment":               (*teller).comment,
	"label":                       (*teller).label,
	"milestone":                   (*teller).milestone,
	"pull_request":                (*teller).pull,
	"pull_request_review":         (*teller).review,
	"pull_request_review_comment": (*teller).reviewComment,
	"pull_request_review_thread":  (*teller).reviewThread,
	"commit_comment":              (*teller).commitComment,
	"status":                      (*teller).status,
	"release":                     (*teller).release,
	"check_run":                   (*teller).checkRun,
	"check_suite":                 (*teller).checkSuite,
	"deployment":                  (*teller).deployment,
	"deployment_status":           (*teller).deploymentStatus,
	hook.Dispatch:                 (*teller).dispatch,
	"installation":                (*teller).nothing, // who tells of it renders all of it
	"branch_protection_rule":      (*teller).nothing, // the same
	"repository_ruleset":          (*teller).nothing, // the same
	"merge_group":                 (*teller).nothing, // the same
	"installation_repositories":   (*teller).nothing,
	"github_app_authorization":    (*teller).nothing, // only who revoked it
}

// Tell is hook.Renderer's: it renders events of one repository or organization. It leaves out what is gone.
func (r *Renderer) Tell(tx *db.Tx, list []*hook.Telling) error {
	p := newPlaces()
	b := &batch{Renderer: r, tx: tx, info: hook.Info(p.site(), p.prefix()),
		rendered: map[string]json.RawMessage{}}
	b.ctx = web.WithInfo(context.Background(), b.info) // of no request: nothing waits in a transaction
	for _, one := range list {
		t := &teller{batch: b, Telling: one, out: object{}}
		err := t.render()
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) {
			continue
		}
		if err != nil {
			return err
		}
		payload, err := web.Marshal(t.out)
		if err != nil {
			return err
		}
		if one.Told, err = pack(&told{Places: p, Payload: payload, Not: t.not}); err != nil {
			return err
		}
	}
	return nil
}

func (t *teller) render() error {
	maker, known := makers[t.Name]
	if !known {
		return errs.Absent()
	}
	if err := t.load(); err != nil {
		return err
	}
	if err := t.common(); err != nil {
		return err
	}
	if err := maker(t); err != nil {
		return err
	}
	for name, part := range t.About.Parts {
		t.out[name] = part
	}
	return nil
}

// load reads whom and what every payload shows.
func (t *teller) load() (err error) {
	of := t.repo
	if t.RepoID == 0 || t.About.Parts["repository"] != nil {
		of = nil
	} else if of == nil {
		if t.repo, err = repo.AccessForHooks(t.tx, t.RepoID); err != nil {
			return err
		}
		of = t.repo
	}
	owner := t.Owner
	if of != nil {
		owner = of.OwnerID
	}
	people, err := account.ByIDs(t.tx, []account.ID{t.Actor, owner, t.About.User})
	if err != nil {
		return err
	}
	if t.by, t.user = people[t.Actor], people[t.About.User]; t.by == nil && t.Actor != 0 {
		return errs.Absent() // it is being deleted: what it did becomes ghost's
	}
	if a := people[owner]; a != nil {
		if a.Kind == account.Organization {
			t.org = a
		}
		if t.by == nil { // the operator did it: GitHub has a sender always
			t.by = a
		}
	}
	return nil
}

// common is what all payloads have.
func (t *teller) common() error {
	if t.Action != "" {
		t.out["action"] = t.Action
	}
	if t.by != nil {
		t.out["sender"] = account.NewSimple(t.by, t.info)
	}
	if t.org != nil {
		t.out["organization"] = account.NewOrganization(t.org, t.info)
	}
	if t.About.Changes != nil {
		t.out["changes"] = t.About.Changes
	}
	if t.RepoID == 0 || t.repo == nil {
		return nil
	}
	return t.putOnce("repository", "repository", func() (any, error) { return repo.NewPayload(t.repo, t.info), nil })
}

// put puts what render renders into the payload, unless the event holds it.
func (t *teller) put(name string, render func() (any, error)) error {
	if t.About.Parts[name] != nil {
		return nil // it was rendered before it went
	}
	v, err := render()
	if err == nil {
		t.out[name] = v
	}
	return err
}

// putOnce is put for a part that several events of a transaction show; key names it.
func (t *teller) putOnce(name, key string, render func() (any, error)) error {
	return t.put(name, func() (any, error) {
		if part := t.rendered[key]; part != nil {
			return part, nil
		}
		v, err := render()
		if err != nil {
			return nil, err
		}
		t.rendered[key], err = web.Marshal(v)
		return t.rendered[key], err
	})
}

// putIf is put for what may be gone.
func (t *teller) putIf(name string, render func() (any, error)) error {
	err := t.put(name, render)
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

func (t *teller) nothing() error { return nil }

// zen is what a ping says.
const zen = "Keep it logically awesome."

func (t *teller) ping() error {
	path := ""
	if t.repo != nil {
		path = web.Path("repos", t.repo.Owner.Login, t.repo.Name)
	} else if t.org != nil {
		path = web.Path("orgs", t.org.Login)
	}
	t.out["zen"], t.out["hook_id"], t.out["hook"] = zen, t.Hook.ID, hook.NewPayload(t.Hook, t.info, path)
	return nil
}

// deliveryOf is the event of a delivery that was not rendered in its transaction.
func deliveryOf(tx *db.Tx, h *hook.Hook, d *hook.Delivery) (*hook.Telling, error) {
	t := &hook.Telling{RepoID: d.RepoID, Owner: h.OrgID, Hook: h,
		Event: hook.Event{Name: d.Event, Action: d.Action, Actor: d.Actor, About: d.About}}
	people, err := account.ByIDs(tx, []account.ID{d.Actor})
	if people[d.Actor] == nil {
		t.Actor = 0
	}
	if d.RepoID == 0 && d.Installation != 0 {
		i, err := app.InstallationByID(tx, d.Installation)
		if err == nil {
			t.Owner = i.Account.ID
		} else if !errs.Is(err, errs.NotFound) {
			return nil, err
		}
	}
	return t, err
}
