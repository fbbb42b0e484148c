package payloads

import (
	"context"
	"encoding/json"
	"errors"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// sending is a delivery that is sent for the first time.
type sending struct {
	*Renderer
	ctx    context.Context
	info   *web.Info
	hook   *hook.Hook
	d      *hook.Delivery
	told   *told
	repo   *repo.Access // named as it was at the event; nil: the event is of an organization
	by     *account.Account
	sender string // the login at the event
	out    map[string]json.RawMessage
}

// Render is hook.Renderer's: it makes the payload of a delivery. Error: 404 if it must no longer be
// sent.
func (r *Renderer) Render(ctx context.Context, h *hook.Hook, d *hook.Delivery) ([]byte, error) {
	s := &sending{Renderer: r, ctx: ctx, info: web.From(ctx), hook: h, d: d}
	if err := r.db.Read(ctx, s.load); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(s.told.addressed(s.info), &s.out); err != nil {
		return nil, err
	}
	s.name()
	if d.Installation != 0 && s.out["installation"] == nil {
		of := object{"id": d.Installation, "node_id": app.NodeID(d.Installation)}
		if err := s.add(object{"installation": of}); err != nil {
			return nil, err
		}
	}
	if complete := completers[d.Event]; complete != nil {
		if err := complete(s); err != nil {
			return nil, err
		}
	}
	return web.Marshal(s.out)
}

// load asks for rights, and reads what was told at the event, or else what there is now. Error: 404.
func (s *sending) load(tx *db.Tx) (err error) {
	s.told, s.by = nil, nil
	if s.repo, err = reached(tx, s.hook, s.d); err != nil {
		return err
	}
	hidden := false
	if s.d.Told != nil {
		if s.told, err = unpack(s.d.Told); err != nil {
			return err
		}
		if hidden, err = s.hides(tx); err != nil {
			return err
		}
	}
	if s.told == nil || hidden {
		if err := s.tellNow(tx); err != nil {
			return err
		}
	}
	if s.d.Event != "push" {
		return nil
	}
	people, err := account.ByIDs(tx, []account.ID{s.d.Actor})
	s.by = people[s.d.Actor]
	return err
}

// tellNow renders the event as it is now.
func (s *sending) tellNow(tx *db.Tx) error {
	one, err := deliveryOf(tx, s.hook, s.d)
	if err != nil {
		return err
	}
	if err := s.Tell(tx, []*hook.Telling{one}); err != nil {
		return err
	}
	if one.Told == nil {
		return errs.Absent()
	}
	if s.told, err = unpack(one.Told); err != nil {
		return err
	}
	hidden, err := s.hides(tx) // the event itself may hold it
	if err == nil && hidden {
		err = errs.Absent()
	}
	return err
}

// id is what stands for a repository in a payload.
type id struct {
	ID repo.ID `json:"id"`
}

// hides reports whether what was told shows another repository that is there, and that the receiver may not
// see any more.
func (s *sending) hides(tx *db.Tx) (bool, error) {
	var shown struct {
		Forkee *id `json:"forkee"`
		Pull   struct {
			Head struct {
				Repo *id `json:"repo"`
			} `json:"head"`
		} `json:"pull_request"`
		Changes struct {
			New *id `json:"new_repository"`
			Old *id `json:"old_repository"`
		} `json:"changes"`
	}
	if s.repo == nil {
		return false, nil
	}
	if err := json.Unmarshal(s.told.Payload, &shown); err != nil {
		return false, err
	}
	for _, of := range []*id{shown.Forkee, shown.Pull.Head.Repo, shown.Changes.New, shown.Changes.Old} {
		if of == nil || of.ID == s.repo.ID {
			continue
		}
		list, err := repo.VisibleByID(tx, s.repo.Caller, []repo.ID{of.ID})
		if err != nil {
			return false, err
		}
		if len(list) > 0 {
			continue
		}
		if gone, err := isGone(tx, of.ID); err != nil || !gone {
			return true, err
		}
	}
	return false, nil
}

// name sets the repository's names to those at the event, for addresses.
func (s *sending) name() {
	var of struct {
		Name  string
		Owner struct{ Login string }
	}
	var sender struct{ Login string }
	if json.Unmarshal(s.out["sender"], &sender) == nil {
		s.sender = sender.Login
	}
	if s.repo == nil || json.Unmarshal(s.out["repository"], &of) != nil || of.Name == "" {
		return
	}
	then, named := *s.repo, *s.repo.Repo
	named.Name, named.Owner.Login = of.Name, of.Owner.Login
	then.Repo, s.repo = &named, &then
}

// add puts parts into the payload.
func (s *sending) add(parts object) (err error) {
	for name, v := range parts {
		if s.out[name], err = web.Marshal(v); err != nil {
			return err
		}
	}
	return nil
}

// Check is hook.Renderer's: a hook is not sent what it was not told before its right ended. A payload that names
// what is hidden since then is made again.
func (r *Renderer) Check(tx *db.Tx, h *hook.Hook, d *hook.Delivery) error {
	to, err := reached(tx, h, d)
	if err != nil {
		return err
	}
	s := &sending{Renderer: r, told: &told{Payload: d.Payload}, repo: to}
	hidden, err := s.hides(tx)
	if hidden {
		d.Payload = nil
	}
	return err
}

// reached finds the repository that a delivery tells of, unless that is gone and the delivery may tell of it
// all the same. Error: 404 when the repository is gone, or out of reach of the hook.
func reached(tx *db.Tx, h *hook.Hook, d *hook.Delivery) (*repo.Access, error) {
	if d.RepoID == 0 || d.About.Parts["repository"] != nil {
		return nil, awake(tx, d)
	}
	r, err := repo.AccessForHooks(tx, d.RepoID)
	if errs.Is(err, errs.NotFound) && h.RepoID == 0 && d.Event == "repository" {
		// The former owner of a transferred repository no longer gets anything: it was theirs to the end.
		if gone, err := isGone(tx, d.RepoID); err != nil || gone {
			return nil, errors.Join(err, awake(tx, d))
		}
	}
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

// awake returns 404 for an event to an App that is no longer installed, or is suspended. Events of the
// installation itself are still sent.
func awake(tx *db.Tx, d *hook.Delivery) error {
	if d.Installation == 0 || d.About.Parts["installation"] != nil {
		return nil
	}
	ok, err := app.Awake(tx, d.Installation)
	if err == nil && !ok {
		err = errs.Absent()
	}
	return err
}

// isGone reports whether a repository was deleted.
func isGone(tx *db.Tx, id repo.ID) (bool, error) {
	a, err := repo.ByID(tx, nil, id)
	if errs.Is(err, errs.NotFound) {
		return true, nil
	}
	return err == nil && a.Deleted(), err
}
