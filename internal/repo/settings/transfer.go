package settings

import (
	"context"
	"encoding/json"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/web"
)

// Transfer is where a repository is to go.
type Transfer struct {
	Owner string // login
	Name  string // that it has there; empty: the one that it has
}

// Handover is a transfer that was checked, for [Forge].
type Handover struct {
	To   *account.Account
	Name string
	// Collaborators that a transfer makes: who had the repository, and a member of an
	// organization who brings it there.
	Join map[account.ID]account.Role
}

// Transfer transfers the repository of the access to another owner. Errors: 403 for a caller that does
// not own it, or may not create there; 422 for an owner that is not there or is suspended,
// for the one that it has, for another person, for a name that is taken, for a second repository
// of a network, and for a private fork whose new owner does not see the root.
func (s *Service) Transfer(ctx context.Context, a *repo.Access, t Transfer) (*repo.Access, error) {
	if t.Owner == "" {
		return nil, transferError("new_owner", errs.MissingField, nil, "")
	}
	if message := repo.CheckName(t.Name); t.Name != "" && message != "" {
		return nil, transferError("new_name", errs.Custom, t.Name, message)
	}
	var moved *repo.Access
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		to, err := s.lockTransfer(tx, a.ID, t.Owner)
		if err != nil {
			return err
		}
		if err := tx.Check(); err != nil { // now: it may be the caller whose role ends
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		h, err := handover(tx, now, to, t.Name)
		if err != nil {
			return err
		}
		kb, err := ownedKB(tx, a.ID)
		if err != nil {
			return err
		}
		if err := s.repos.CheckQuota(tx, to, repo.Growth{Repos: 1, KB: kb, Hold: true}); err != nil {
			return err
		}
		if err := s.forge.Transfer(tx, now.Repo, h, account.IDOf(a.Caller)); err != nil {
			return err
		}
		if err := account.BumpIfFactorsAreRequired(tx); err != nil {
			return err
		}
		moved, err = repo.ByID(tx, a.Caller, a.ID)
		if err == nil && moved.Withdrawn {
			err = transferError("new_owner", errs.Custom, t.Owner,
				"Who is to own a private fork must see the root of its network: of an organization, one of its owners.")
		}
		return err
	})
	return moved, err
}

// lockTransfer holds the repository, the root of its network and the owner to be, in this order,
// so that no second fork, no other transfer and no deletion comes in between.
func (s *Service) lockTransfer(tx *db.Tx, id repo.ID, owner string) (*account.Account, error) {
	if err := repo.Lock(tx, id); err != nil {
		return nil, err
	}
	root, err := network.NetworkOf(tx, id)
	if err == nil && root != id {
		err = repo.Lock(tx, root)
	}
	if err != nil {
		return nil, err
	}
	to, err := account.Hold(tx, owner)
	if errs.Is(err, errs.NotFound) {
		return nil, transferError("new_owner", errs.InvalidField, errs.Clip(owner),
			"No account has this login.")
	}
	return to, err
}

// handover checks that the caller may give the repository to an account.
func handover(tx *db.Tx, a *repo.Access, to *account.Account, name string) (Handover, error) {
	h := Handover{To: to, Name: name, Join: map[account.ID]account.Role{}}
	if name == "" {
		h.Name = a.Name
	}
	if err := mayGive(tx, a); err != nil {
		return h, err
	}
	by := a.Caller
	switch {
	case to.ID == a.OwnerID:
		return h, transferError("new_owner", errs.Custom, to.Login,
			"The repository belongs to this owner already.")
	case !to.SuspendedAt.IsZero():
		return h, transferError("new_owner", errs.Custom, to.Login, "This account is suspended.")
	case to.Kind == account.User && to.ID != account.IDOf(by) && !by.SeesAll():
		return h, transferError("new_owner", errs.Custom, to.Login,
			"Only a site administrator can transfer a repository to another person. "+
				"Transfer it to an organization in which you both may create repositories.")
	}
	admit, err := repo.MayCreate(tx, by, to, a.Private)
	if err != nil {
		return h, err
	}
	if admit {
		h.Join[by.ID] = account.Admin
	}
	if err := keepOwner(tx, a, &h); err != nil {
		return h, err
	}
	return h, checkOnlyOne(tx, a.Repo, to)
}

// keepOwner adds the former owner as a collaborator, unless that is an organization, or the new owner is an
// organization that the former one owns.
func keepOwner(tx *db.Tx, a *repo.Access, h *Handover) error {
	switch {
	case a.Owner.Kind != account.User:
		return nil
	case h.To.Kind == account.User:
		h.Join[a.OwnerID] = account.Push
		return nil
	}
	_, owner, err := account.OrgRole(tx, h.To.ID, a.OwnerID)
	if err == nil && !owner {
		h.Join[a.OwnerID] = account.Admin
	}
	return err
}

// mayGive refuses who does not own the repository: an administrator by grant, whom its owner
// may have let in for a while, must not take it along.
func mayGive(tx *db.Tx, a *repo.Access) error {
	if err := a.Caller.MustBeOpen(tx, &a.Owner); err != nil {
		return err
	}
	if a.Caller.SeesAll() || account.IDOf(a.Caller) == a.OwnerID {
		return nil
	}
	_, owner, err := account.OrgRole(tx, a.OwnerID, account.IDOf(a.Caller))
	switch {
	case err != nil || owner:
		return err
	case a.Owner.Kind == account.Organization:
		return errs.New(errs.Forbidden, "Must be an owner of the organization to transfer its repositories.")
	default:
		return errs.New(errs.Forbidden, "Must be the owner of the repository to transfer it.")
	}
}

// transferError is a 422 that names a field of the request.
func transferError(field, code string, value any, message string) error {
	return errs.Validation(errs.Field{Resource: repo.Resource, Field: field, Code: code, Value: value,
		Message: message})
}

// POST /repos/{owner}/{repo}/transfer
//
// Transfer transfers the repository to new_owner, as new_name if that is set. It takes effect at once,
// without acceptance, and the answer is the repository at its new address. Teams get it afterwards,
// so team_ids may only be empty. Errors: 403, 422.
func (api *API) Transfer(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, repo.Resource)
	if err != nil {
		return err
	}
	body.Require("new_owner")
	t := Transfer{Owner: body.String("new_owner", 0).Value, Name: body.String("new_name", 0).Value}
	var teams []int64
	switch raw := body.Raw("team_ids"); {
	case raw == nil:
	case json.Unmarshal(raw, &teams) != nil:
		body.Wrong("team_ids", errs.InvalidField, `"team_ids" must be an array of integers`)
	case len(teams) > 0:
		body.Wrong("team_ids", errs.Custom, "Teams are not supported.")
	}
	if err := body.Err(); err != nil {
		return err
	}
	moved, err := api.s.Transfer(r.Context(), a, t)
	if err != nil {
		return err
	}
	return api.s.repos.Answer(w, r, http.StatusAccepted, moved)
}
