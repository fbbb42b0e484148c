// Package team holds the teams of organizations: who is in them, and what they may do in repositories.
//
//	team.go    teams and their rules: list, find, create, change, delete
//	member.go  who is in a team; repo.go: the repositories of a team
//	store.go, storemember.go, storerepo.go  the SQL
//	tell.go    webhooks and the audit log
//	api.go, apimember.go, apirepo.go  the handlers; json.go: their JSON; routes.go: three addresses of each
//
// Tables: teams, team_members, team_repos. A team belongs to an organization and may have a parent there. Members of
// a closed team's organization see it. A secret team has neither parent nor children, and only its members and the
// organization's owners see it: [Seen] is the condition, and what shows a team to others asks it.
//
// team_members holds a team's own members, and with the role [Below] those of all teams below it. So the rights of a
// person are rows of team_members and team_repos alone, which [repo.GrantedRole] reads. A change writes no row for
// each pair of a person and a repository.
//
// What a team holds when something else changes; a test walks it:
//
//	a membership of the organization ends    the person leaves its teams; an outside collaborator keeps their roles
//	an account is suspended                  it stays, and its tokens do not work; deleted: it is gone
//	a repository is transferred, deleted     it leaves the teams; made private or public: it stays
//	a team is deleted                        the teams below are as well, with review requests to them
//	a team is made secret                    who has access keeps it; requests to it are shown to nobody
//	a team gets another parent               rights through teams above are those of the new ones
//	the organization is renamed              addresses follow; deleted: the teams are, too
//
// Invariants: everybody in a team is a member of its organization, and all its repositories belong to that. So a
// membership that ends, and a repository that is transferred, leave the teams in the same transaction ([LeaveRepo];
// package account removes members). Every change holds the row of the organization and raises [account.Topic].
package team

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Resource is the name of teams in validation errors.
const Resource = "Team"

// Limits.
const (
	maxOfOrg       = 5000 // teams of an organization
	maxDepth       = 8    // teams above each other
	maxName        = 255
	maxDescription = 1024
)

// ID is the id of a team.
type ID int64

// String returns the id as addresses have it.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Team is a team of an organization.
type Team struct {
	ID          ID
	Org         account.Account // id, login and kind alone
	Parent      *Team           // without its own parent; nil: none
	Name        string
	Slug        string // unique in the organization
	Description *string
	Secret      bool // closed otherwise
	Quiet       bool // mentions notify nobody
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// Role is the place of a person in a team.
type Role uint8

// The roles, as they are stored.
const (
	Outside Role = iota // not in the team: there is no row
	Below               // only a member of a team below
	Member
	Maintainer
)

// String returns the name of the role in payloads.
func (r Role) String() string {
	if r == Maintainer {
		return "maintainer"
	}
	return "member"
}

// Ref names a team: by the organization's login and the slug, or by ids.
type Ref struct {
	Org, Slug string
	ID        ID
	OrgID     account.ID // 0: any
}

// Access is a team that the caller may see.
type Access struct {
	*Team
	Caller *account.Caller
	Owner  bool // the caller owns the organization, or is a site administrator
	Role   Role // of the caller
}

// MayManage reports whether the caller may change who is in the team, and remove its repositories.
func (a *Access) MayManage() bool { return a.Owner || a.Role == Maintainer }

// Forge is what else happens to features when people gain or lose rights. Package forge implements it.
type Forge interface {
	BeginOrgAccess(tx *db.Tx, orgID account.ID) error
	EndOrgAccess(tx *db.Tx, orgID, by account.ID) error
}

// Service implements the operations on teams.
type Service struct {
	db    *db.DB
	repos *repo.Service
	forge Forge
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, forge Forge) *Service { return &Service{d, repos, forge} }

// Slug returns the slug of a name: its letters and digits in lower case, other runs as a hyphen. It may be empty.
func Slug(name string) string {
	var b strings.Builder
	gap := false
	for _, c := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, c):
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '_':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(unicode.ToLower(c))
		default:
			gap = true
		}
	}
	return norm.NFC.String(b.String())
}

// Get finds a team. Error: 404, also for a team that the caller may not see.
func (s *Service) Get(ctx context.Context, caller *account.Caller, ref Ref) (a *Access, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err = find(tx, caller, ref)
		return err
	})
	return a, err
}

// find finds a team that the caller may see.
func find(tx *db.Tx, caller *account.Caller, ref Ref) (*Access, error) {
	t, err := byRef(tx, ref)
	if err != nil {
		return nil, err
	}
	_, may, err := account.OrgFor(tx, caller, t.Org.Login)
	if err != nil {
		return nil, err
	}
	if !may.Member {
		return nil, errs.Absent()
	}
	role, err := roleIn(tx, t.ID, account.IDOf(caller))
	if err == nil && t.Secret && !may.Owner && role == Outside {
		err = errs.Absent()
	}
	return &Access{Team: t, Caller: caller, Owner: may.Owner, Role: role}, err
}

// hold is find in a transaction that writes: the organization is held, and the rights are asked again then.
func hold(tx *db.Tx, caller *account.Caller, ref Ref) (*Access, error) {
	a, err := find(tx, caller, ref)
	if err != nil {
		return nil, err
	}
	if err := account.HoldID(tx, a.Org.ID); err != nil {
		return nil, err
	}
	return find(tx, caller, ref)
}

// holdOwned is hold for what only owners of the organization may do. Errors: 403, 404.
func holdOwned(tx *db.Tx, caller *account.Caller, ref Ref) (*Access, error) {
	a, err := hold(tx, caller, ref)
	if err == nil && !a.Owner {
		err = account.MustOwn(&a.Org)
	}
	return a, err
}

// members returns the organization if the caller is a member of it. Errors: 403, 404.
func members(tx *db.Tx, caller *account.Caller, login string) (*account.Account, account.OrgAccess, error) {
	org, may, err := account.OrgFor(tx, caller, login)
	if err == nil && !may.Member {
		err = errs.Newf(errs.Forbidden, "You must be a member of the organization %q to see its teams",
			org.Login)
	}
	return org, may, err
}

// List reads a page of the teams of an organization that the caller may see, by slug, and how many there are. With
// top only those without a parent. Errors: 403 for callers who are not members, 404.
func (s *Service) List(
	ctx context.Context, caller *account.Caller, org string, top bool, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, may, err := members(tx, caller, org)
		if err != nil {
			return err
		}
		where := `t.org_id = $1 AND ` + Seen("t", may.Owner, "$2")
		if top {
			where += ` AND t.parent_id IS NULL`
		}
		list, total, err = pageOf(tx, where, "t.slug", page, of.ID, account.IDOf(caller))
		return err
	})
	return list, total, err
}

// Children reads a page of the teams whose parent a team is. Error: 404.
func (s *Service) Children(
	ctx context.Context, caller *account.Caller, ref Ref, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		list, total, err = pageOf(tx, `t.parent_id = $1`, "t.slug", page, a.ID)
		return err
	})
	return list, total, err
}

// OfCaller reads a page of the teams that the caller belongs to in all organizations, by id.
func (s *Service) OfCaller(
	ctx context.Context, caller *account.Caller, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, total, err = pageOf(tx,
			`t.id IN (SELECT team_id FROM team_members WHERE user_id = $1 AND role > 1)`,
			"t.id", page, caller.ID)
		return err
	})
	return list, total, err
}

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
	switch {
	case e.ParentSlug.Given():
		ref := Ref{Org: t.Org.Login, Slug: e.ParentSlug.Value}
		t.Parent, err = parentOf(tx, t, ref, "parent_team_slug", &f)
	case e.Parent.Given():
		ref := Ref{ID: e.Parent.Value, OrgID: t.Org.ID}
		t.Parent, err = parentOf(tx, t, ref, "parent_team_id", &f)
	case e.Parent.Null, e.ParentSlug.Null:
		t.Parent = nil
	}
	if err != nil {
		return false, err
	}
	if e.Secret.Given() {
		t.Secret = e.Secret.Value
	} else if t.Parent != nil && was == nil && t.ID == 0 {
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
		if in, _, err := account.OrgRole(tx, t.Org.ID, id); err != nil || !in {
			return orElse(err, unaffiliated("maintainers"))
		}
		if err := putMember(tx, t.ID, id, Maintainer); err != nil {
			return err
		}
	}
	return s.fillRepos(tx, caller, t, n.Repos)
}

// orElse returns the error, or else the other one.
func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
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

// ByIDs reads those of the teams that the caller sees.
func (s *Service) ByIDs(ctx context.Context, caller *account.Caller, ids []ID) (found map[ID]*Team,
	err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[ID]*Team{}
		ids := db.Unique(ids)
		list, err := query(tx, `t.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
		if err != nil {
			return err
		}
		in, err := db.QueryMap[ID, Role](tx, `SELECT team_id, role FROM team_members WHERE user_id = $1
			AND team_id IN `+db.ValuesFrom(2, 1, len(ids)), db.Args(ids, account.IDOf(caller))...)
		if err != nil {
			return err
		}
		orgs := map[account.ID]account.OrgAccess{}
		for _, t := range list {
			may, known := orgs[t.Org.ID]
			if !known {
				if _, may, err = account.OrgFor(tx, caller, t.Org.Login); err != nil {
					return err
				}
				orgs[t.Org.ID] = may
			}
			if may.Member && (!t.Secret || may.Owner || in[t.ID] != Outside) {
				found[t.ID] = t
			}
		}
		return nil
	})
	return found, err
}
