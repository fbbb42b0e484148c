package account

import (
	"context"
	"net/http"
	"slices"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/web"
)

// Audited is the account for the audit log.
func (a *Account) Audited() audit.Named { return audit.Named{ID: int64(a.ID), Name: a.Login} }

// Record notes what happens to an account: to a user, or to an organization.
func Record(tx *db.Tx, action audit.Action, a *Account, right string, changes map[string]any) error {
	e := audit.Entry{Action: action, Right: right, Changes: changes}
	if a.Kind == Organization {
		e.Org = a.Audited()
	} else {
		e.User = a.Audited()
	}
	return audit.Record(tx, e)
}

// recordMember notes what happens to a membership. Everybody may end the own one, or accept it.
func recordMember(tx *db.Tx, action audit.Action, by *Caller, m *Membership, changes map[string]any) error {
	right := audit.OrgOwner
	if m.User.ID == by.ID && (action == audit.OrgRemoveMember ||
		action == audit.OrgAddMember && !by.SiteAdmin) {
		right = audit.Self
	}
	return audit.Record(tx, audit.Entry{Action: action, Org: m.Org.Audited(), User: m.User.Audited(),
		Right: right, Changes: changes})
}

// orgRole is a role in an organization as GitHub names it.
func orgRole(owner bool) string {
	if owner {
		return "admin"
	}
	return "member"
}

// record notes which parts of an account change. Texts that somebody wrote are named only.
func (e *Edit) record(tx *db.Tx, before, after *Account) error {
	told, fields, bio := map[string]any{}, []string{}, "bio"
	if after.Kind == Organization {
		bio = "description"
	}
	for field, v := range map[string]web.Opt[string]{"name": e.Name, "email": e.Email, "company": e.Company,
		"blog": e.Blog, "location": e.Location, bio: e.Bio,
		"billing_email": e.BillingEmail} {
		if v.Set {
			fields = append(fields, field)
		}
	}
	if slices.Sort(fields); len(fields) > 0 {
		told["fields"] = fields
	}
	if before.DefaultRole != after.DefaultRole {
		told["old_default_repository_permission"] = before.DefaultRole.Name()
		told["default_repository_permission"] = after.DefaultRole.Name()
	}
	if before.PrivateForks != after.PrivateForks {
		told["members_can_fork_private_repositories"] = after.PrivateForks
	}
	if was, now := before.Creation, after.Creation; was != now {
		told["old_members_allowed_repository_creation_type"] = was.Type()
		told["members_allowed_repository_creation_type"] = now.Type()
	}
	switch {
	case len(told) == 0:
		return nil
	case after.Kind == Organization:
		return Record(tx, audit.OrgUpdate, after, audit.OrgOwner, told)
	default:
		return Record(tx, audit.UserUpdate, after, audit.Self, told)
	}
}

// Events lists what the audit log has, for the operator.
func (s *Service) Events(
	ctx context.Context, f audit.Filter, limit int,
) (list []audit.Event, more bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, more, err = audit.List(tx, f, limit)
		return err
	})
	return list, more, err
}

// GET /admin/audit-log
//
// ListAllEvents answers the audit log of the whole server, for site administrators. Query and
// errors as of ListOrgEvents.
func (a *API) ListAllEvents(w http.ResponseWriter, r *http.Request) error {
	f, err := readEventFilter(r)
	if err != nil {
		return err
	}
	size := int(web.ReadPageSize(r))
	list, more, err := a.s.Events(r.Context(), f, size)
	if err != nil {
		return err
	}
	return listEvents(w, r, f, list, more)
}

// GET /orgs/{org}/audit-log
//
// ListOrgEvents answers an organization's part of the audit log, the newest event first, for
// its owners: what happened to it, its members and its repositories while they were its own.
// phrase chooses (audit.Filter.Parse), order=asc turns it round, after and before are cursors of
// the Link header. Errors: 404, 403, 422.
func (a *API) ListOrgEvents(w http.ResponseWriter, r *http.Request) error {
	var list []audit.Event
	var more bool
	caller := *CallerFrom(r.Context())
	caller.HidesMembers = false // the scope for audit logs is enough
	if err := a.s.CheckOwner(r.Context(), &caller, web.Param(r, "org")); err != nil {
		return err
	}
	f, err := readEventFilter(r)
	if err != nil {
		return err
	}
	size := int(web.ReadPageSize(r))
	err = a.s.db.Read(r.Context(), func(tx *db.Tx) error {
		org, may, err := orgFor(tx, &caller, web.Param(r, "org"))
		if err != nil {
			return err
		}
		if !may.Owner {
			return mustOwn(org)
		}
		f.OrgID = int64(org.ID)
		list, more, err = audit.List(tx, f, size)
		return err
	})
	if err != nil {
		return err
	}
	for i := range list {
		forOrg(&list[i])
	}
	return listEvents(w, r, f, list, more)
}

// forOrg removes from an event from where those acted who run the server, which is not the organization's business.
func forOrg(e *audit.Event) {
	if by := &e.Actor; by.Right == audit.SiteAdmin || by.Right == audit.Operator {
		by.Address, by.TokenID = "", 0
	}
}

// OrgEvent is an event of an organization's audit log, with the accounts as they are now; nil: there is none, or it
// is gone.
type OrgEvent struct {
	audit.Event
	Actor, User *Account
}

// EventsOfEach lists a page of the audit log of each of several organizations that the caller owns, with a fixed
// number of statements. The others are missing. The filter must have actions.
func (s *Service) EventsOfEach(
	ctx context.Context, caller *Caller, orgs []ID, f audit.Filter, page web.Page,
) (out map[ID]*web.List[*OrgEvent], err error) {
	as := *caller
	as.HidesMembers = false // the scope for audit logs is enough
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		may, err := AccessTo(tx, &as, orgs)
		if err != nil {
			return err
		}
		owned := slices.DeleteFunc(slices.Clone(orgs), func(id ID) bool { return !may[id].Owner })
		pages, events, err := audit.PageOfEach(tx, owned, f, page.Offset(), page.Size)
		if err != nil {
			return err
		}
		var ids []ID
		for _, e := range events {
			ids = append(ids, ID(e.Actor.ID), ID(e.User.ID))
		}
		people, err := ByIDs(tx, db.Unique(ids))
		out = web.ListOfEach(page, pages, func(r db.ListRow[int64]) (*OrgEvent, bool) {
			e, there := events[r.ID]
			forOrg(&e)
			return &OrgEvent{e, people[ID(e.Actor.ID)], people[ID(e.User.ID)]}, there
		})
		return err
	})
	return out, err
}

// readEventFilter reads the filter of audit events in a request. Errors: 422.
func readEventFilter(r *http.Request) (f audit.Filter, err error) {
	const resource = "AuditLog"
	q := web.QueryOf(r)
	order, err := web.QueryEnum(r, resource, "order", "desc", "asc", "desc")
	if err != nil {
		return f, err
	}
	f.Ascending = order == "asc"
	if err := f.SetCursors(q.Get("after"), q.Get("before")); err != nil {
		return f, err
	}
	return f, f.Parse(q.Get("phrase"))
}

func listEvents(w http.ResponseWriter, r *http.Request, f audit.Filter, list []audit.Event, more bool) error {
	out := make([]audit.Payload, len(list))
	for i := range list {
		out[i] = audit.NewPayload(&list[i])
	}
	next, prev := f.Around(list, more)
	web.LinkCursors(w, r, next, prev)
	return web.JSON(w, r, http.StatusOK, out)
}
