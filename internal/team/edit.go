package team

import (
	"context"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/posting"
	"arbor/internal/web"
)

// Edit is a change of a team, and what a new one has. What is not set stays.
type Edit struct {
	Name, Description web.Opt[string]
	Secret, Quiet     web.Opt[bool]
	Parent            web.Opt[ID]     // null: none
	ParentSlug        web.Opt[string] // names the parent in place of Parent, where given
}

// check notes what is wrong with the values.
func (e *Edit) check(f *web.Faults) {
	if e.Name.Set {
		f.CheckFilled("name", e.Name.Value)
		f.CheckText("name", e.Name.Value, maxName)
		if !f.IsWrong("name") && (account.HasControl(e.Name.Value) || Slug(e.Name.Value) == "") {
			f.Wrong("name", errs.InvalidField, "name must be one line with a letter or a digit")
		}
	}
	f.CheckText("description", e.Description.Value, maxDescription)
}

// apply changes the team and reports whether it has another parent. Errors: 422.
func (e *Edit) apply(tx *db.Tx, t *Team) (moved bool, err error) {
	f := web.Faults{Resource: Resource}
	if e.Name.Set {
		t.Name, t.Slug = e.Name.Value, Slug(e.Name.Value)
	}
	if e.Description.Set {
		t.Description = web.OrNil(e.Description.Value)
	}
	if e.Quiet.Given() {
		t.Quiet = e.Quiet.Value
	}
	was := t.Parent
	if err := e.setParent(tx, t, &f); err != nil {
		return false, err
	}
	switch {
	case e.Secret.Given():
		t.Secret = e.Secret.Value
	case t.ID == 0 && t.Parent != nil:
		t.Secret = false
	}
	if t.Secret {
		nested := t.Parent != nil
		if t.ID != 0 && !nested {
			if nested, err = hasChildren(tx, t.ID); err != nil {
				return false, err
			}
		}
		if nested {
			f.Wrong("privacy", errs.Custom, "Secret teams cannot have a parent or child teams.")
		}
	}
	moved = (was == nil) != (t.Parent == nil) || was != nil && was.ID != t.Parent.ID
	return moved, f.Err()
}

// setParent sets the parent, and notes at its field one that cannot be it.
func (e *Edit) setParent(tx *db.Tx, t *Team, f *web.Faults) (err error) {
	switch {
	case e.ParentSlug.Given():
		t.Parent, err = parentOf(tx, t, Ref{Org: t.Org.Login, Slug: e.ParentSlug.Value}, "parent_team_slug", f)
	case e.Parent.Given():
		t.Parent, err = parentOf(tx, t, Ref{ID: e.Parent.Value, OrgID: t.Org.ID}, "parent_team_id", f)
	case e.Parent.Null, e.ParentSlug.Null:
		t.Parent = nil
	}
	return err
}

// parentOf finds a new parent of a team, and notes one that cannot be it at the field that names it.
func parentOf(tx *db.Tx, t *Team, ref Ref, field string, f *web.Faults) (*Team, error) {
	p, err := byRef(tx, ref)
	if errs.Is(err, errs.NotFound) {
		f.Wrong(field, errs.Custom, "The organization has no such team.")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if p.Secret {
		f.Wrong(field, errs.Custom, "A secret team cannot be a parent.")
	}
	above, err := above(tx, p.ID)
	if err != nil {
		return nil, err
	}
	height := 1
	if t.ID != 0 {
		if height, err = heightOf(tx, t.ID); err != nil {
			return nil, err
		}
	}
	for _, id := range above {
		if id == t.ID {
			f.Wrong(field, errs.Custom, "A team cannot be below itself.")
			return p, nil
		}
	}
	if len(above)+height > maxDepth {
		f.Wrong(field, errs.Custom,
			"Teams are nested too deeply (maximum is "+strconv.Itoa(maxDepth)+")")
	}
	return p, nil
}

// NewTeam is a team to be created.
type NewTeam struct {
	Edit
	Maintainers []string // logins of members of the organization
	Repos       []string // OWNER/NAME, or NAME, of its repositories, which the team may read
}

// maxNamed bounds the maintainers and repositories of a new team.
const maxNamed = 100

// Create creates a team, for owners of the organization. The caller becomes a maintainer if a member. Errors: 403,
// 404, 422.
func (s *Service) Create(ctx context.Context, caller *account.Caller, org string, n NewTeam) (a *Access,
	err error) {
	f := web.Faults{Resource: Resource}
	n.Name.Set = true
	n.check(&f)
	f.CheckStrings("maintainers", n.Maintainers, maxNamed, 0)
	f.CheckStrings("repo_names", n.Repos, maxNamed, 0)
	if err := f.Err(); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		of, err := account.HoldOwnedOrg(tx, caller, org)
		if err != nil {
			return err
		}
		t := &Team{Org: account.Account{ID: of.ID, Login: of.Login, Kind: of.Kind}, Secret: true,
			CreatedAt: tx.Now, UpdatedAt: tx.Now}
		moved, err := n.apply(tx, t)
		if err != nil {
			return err
		}
		if err := insert(tx, t); err != nil {
			return err
		}
		if err := record(tx, t, created, nil); err != nil {
			return err
		}
		if err := s.fill(tx, caller, t, n); err != nil {
			return err
		}
		if moved {
			if err := settle(tx, t.Parent.ID, 0); err != nil {
				return err
			}
			if err := s.forge.BeginOrgAccess(tx, t.Org.ID); err != nil {
				return err
			}
		}
		if err := tell(tx, t, caller, "created", nil); err != nil {
			return err
		}
		a = &Access{Team: t, Caller: caller, Owner: true}
		return tx.Bump(account.Topic)
	})
	return a, err
}

// fill adds the first maintainers and repositories.
func (s *Service) fill(tx *db.Tx, caller *account.Caller, t *Team, n NewTeam) error {
	people, err := account.ByLogins(tx, n.Maintainers)
	if err != nil {
		return err
	}
	ids := []account.ID{}
	for _, login := range n.Maintainers {
		p := people[account.Fold(login)]
		if p == nil {
			return unaffiliated("maintainers")
		}
		ids = append(ids, p.ID)
	}
	if in, _, err := account.OrgRole(tx, t.Org.ID, caller.ID); err != nil {
		return err
	} else if in {
		ids = append(ids, caller.ID)
	}
	for _, id := range db.Unique(ids) {
		in, _, err := account.OrgRole(tx, t.Org.ID, id)
		if err != nil {
			return err
		}
		if !in {
			return unaffiliated("maintainers")
		}
		if err := putMember(tx, t.ID, id, Maintainer); err != nil {
			return err
		}
	}
	return s.fillRepos(tx, caller, t, n.Repos)
}

// Edit changes a team, for owners of the organization. Errors: 403, 404, 422.
func (s *Service) Edit(ctx context.Context, caller *account.Caller, ref Ref, e Edit) (a *Access, err error) {
	f := web.Faults{Resource: Resource}
	e.check(&f)
	if err := f.Err(); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if a, err = holdOwned(tx, caller, ref); err != nil {
			return err
		}
		before := *a.Team
		moved, err := e.apply(tx, a.Team)
		if err != nil {
			return err
		}
		changes, audited := changesOf(&before, a.Team)
		if len(changes) == 0 {
			return nil
		}
		a.UpdatedAt = tx.Now
		if err := update(tx, a.Team); err != nil {
			return err
		}
		if moved {
			if err := s.move(tx, caller, &before, a.Team); err != nil {
				return err
			}
		}
		if err := record(tx, a.Team, edited, audited); err != nil {
			return err
		}
		if err := tell(tx, a.Team, caller, "edited", changes); err != nil {
			return err
		}
		return tx.Bump(account.Topic)
	})
	return a, err
}

// move follows a change of the parent: the people above are others.
func (s *Service) move(tx *db.Tx, caller *account.Caller, before, after *Team) error {
	for _, p := range []*Team{before.Parent, after.Parent} {
		if p == nil {
			continue
		}
		if err := settle(tx, p.ID, 0); err != nil {
			return err
		}
	}
	if before.Parent == nil {
		return s.forge.BeginOrgAccess(tx, after.Org.ID)
	}
	return s.forge.EndOrgAccess(tx, after.Org.ID, account.IDOf(caller))
}

// Delete deletes a team with all teams below it, for owners of the organization. Errors: 403, 404.
func (s *Service) Delete(ctx context.Context, caller *account.Caller, ref Ref) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		a, err := holdOwned(tx, caller, ref)
		if err != nil {
			return err
		}
		list, err := below(tx, a.ID)
		if err != nil {
			return err
		}
		for n := len(list) - 1; n >= 0; n-- { // those below first
			if err := tell(tx, list[n], caller, "deleted", nil); err != nil {
				return err
			}
			if err := record(tx, list[n], destroyed, nil); err != nil {
				return err
			}
			if err := posting.Forget(tx, posting.ByTeam.Of(int64(list[n].ID))); err != nil {
				return err
			}
		}
		if err := tx.Run(`DELETE FROM teams WHERE id = $1`, a.ID); err != nil {
			return err
		}
		if a.Parent != nil {
			if err := settle(tx, a.Parent.ID, 0); err != nil {
				return err
			}
		}
		if err := tx.Bump(account.Topic); err != nil {
			return err
		}
		return s.forge.EndOrgAccess(tx, a.Org.ID, caller.ID)
	})
}
