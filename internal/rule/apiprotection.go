package rule

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// protectionResource is the name of protections in validation errors.
const protectionResource = "ProtectedBranch"

// branchParam returns the branch in the address, which must exist. Error: 404.
func (api *API) branchParam(r *http.Request, a *repo.Access) (string, error) {
	name := web.Param(r, "branch")
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error { return branchExists(tx, a.ID, name) })
	return name, err
}

// find returns the protection of the branch in the address. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (*Protection, error) {
	branch, err := api.branchParam(r, a)
	if err != nil {
		return nil, err
	}
	set, err := api.s.BranchProtection(r.Context(), a, branch)
	if err != nil {
		return nil, err
	}
	return AsProtection(set), nil
}

// edit changes the protection of the branch in the address, and returns it.
func (api *API) edit(
	r *http.Request, a *repo.Access, change func(tx *db.Tx, p *Protection) error,
) (*Protection, error) {
	set, err := api.s.EditProtection(r.Context(), a, web.Param(r, "branch"), change)
	if err != nil {
		return nil, err
	}
	return AsProtection(set), nil
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection
//
// GetProtection answers the protection of a branch. Error: 404, also for a branch without one.
func (api *API) GetProtection(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, err := api.find(r, a)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.protection() })
}

// PUT /repos/{owner}/{repo}/branches/{branch...}/protection
//
// PutProtection creates or replaces the protection of a branch. The four settings that GitHub requires must be
// sent, as null if they are off. Whether signatures are required stays unless it is sent: GitHub has it at an address
// of its own. Errors: 404, 422.
func (api *API) PutProtection(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, protectionResource)
	if err != nil {
		return err
	}
	p, err := api.readProtection(r.Context(), a, body)
	if err != nil {
		return err
	}
	set, err := api.s.Protect(r.Context(), a, web.Param(r, "branch"), p)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, AsProtection(set), func(v *protectionView) any { return v.protection() })
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection
//
// DeleteProtection removes the protection of a branch. Error: 404.
func (api *API) DeleteProtection(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Unprotect(r.Context(), a, web.Param(r, "branch")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// setting is a part of a protection with an address of its own that is on or off.
type setting struct {
	is  func(p *Protection) bool
	set func(p *Protection, on bool)
}

// Settings that are on or off.
var (
	adminsSetting = setting{func(p *Protection) bool { return p.Admins },
		func(p *Protection, on bool) { p.Admins = on }}
	signaturesSetting = setting{func(p *Protection) bool { return p.Signatures },
		func(p *Protection, on bool) { p.Signatures = on }}
)

func (api *API) getSetting(w http.ResponseWriter, r *http.Request, a *repo.Access, name string, s setting) error {
	p, err := api.find(r, a)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.enabled(name, s.is(p)) })
}

func (api *API) putSetting(w http.ResponseWriter, r *http.Request, a *repo.Access, name string, s setting) error {
	p, err := api.edit(r, a, func(_ *db.Tx, p *Protection) error {
		s.set(p, true)
		return nil
	})
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.enabled(name, s.is(p)) })
}

// remove changes the protection by a function and answers 204.
func (api *API) remove(w http.ResponseWriter, r *http.Request, a *repo.Access, change func(p *Protection)) error {
	_, err := api.edit(r, a, func(_ *db.Tx, p *Protection) error {
		change(p)
		return nil
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/enforce_admins
//
// GetAdmins answers whether the protection applies to administrators, too. Error: 404.
func (api *API) GetAdmins(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.getSetting(w, r, a, "enforce_admins", adminsSetting)
}

// POST /repos/{owner}/{repo}/branches/{branch...}/protection/enforce_admins
//
// SetAdmins applies the protection to administrators, too. Error: 404.
func (api *API) SetAdmins(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.putSetting(w, r, a, "enforce_admins", adminsSetting)
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/enforce_admins
//
// DropAdmins lets administrators bypass the protection. Error: 404.
func (api *API) DropAdmins(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.remove(w, r, a, func(p *Protection) { p.Admins = false })
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/required_signatures
//
// GetSignatures answers whether the protection requires signatures. Error: 404.
func (api *API) GetSignatures(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.getSetting(w, r, a, "required_signatures", signaturesSetting)
}

// POST /repos/{owner}/{repo}/branches/{branch...}/protection/required_signatures
//
// SetSignatures requires verified signatures of commits. Error: 404.
func (api *API) SetSignatures(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.putSetting(w, r, a, "required_signatures", signaturesSetting)
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/required_signatures
//
// DropSignatures requires no signatures any more. Error: 404.
func (api *API) DropSignatures(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.remove(w, r, a, func(p *Protection) { p.Signatures = false })
}

// errOff is the 404 for a part of a protection that is off.
func errOff(what string) error { return errs.New(errs.NotFound, what+" not enabled") }

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/required_pull_request_reviews
//
// GetReviews answers which reviews the protection requires. Error: 404, also if it requires none.
func (api *API) GetReviews(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, err := api.find(r, a)
	if err == nil && p.Reviews == nil {
		err = errOff("Required pull request reviews")
	}
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.reviews() })
}

// PATCH /repos/{owner}/{repo}/branches/{branch...}/protection/required_pull_request_reviews
//
// EditReviews changes which reviews the protection requires; what is not sent stays. Errors: 404, 422.
func (api *API) EditReviews(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, protectionResource)
	if err != nil {
		return err
	}
	p, err := api.edit(r, a, func(tx *db.Tx, p *Protection) error {
		reviews := PullRequestRule{Approvals: 1}
		if p.Reviews != nil {
			reviews = *p.Reviews
		}
		p.Reviews = &reviews
		return readReviews(tx, a, body, &reviews)
	})
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.reviews() })
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/required_pull_request_reviews
//
// DropReviews requires no reviews any more. Error: 404.
func (api *API) DropReviews(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.remove(w, r, a, func(p *Protection) { p.Reviews = nil })
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks
//
// GetChecks answers which status checks the protection requires. Error: 404, also if it requires none.
func (api *API) GetChecks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, err := api.withChecks(r, a)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.checks() })
}

func (api *API) withChecks(r *http.Request, a *repo.Access) (*Protection, error) {
	p, err := api.find(r, a)
	if err == nil && p.Checks == nil {
		err = errOff("Required status checks")
	}
	return p, err
}

// PATCH /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks
//
// EditChecks changes which status checks the protection requires; what is not sent stays. Errors: 404, 422.
func (api *API) EditChecks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, protectionResource)
	if err != nil {
		return err
	}
	p, err := api.edit(r, a, func(_ *db.Tx, p *Protection) error {
		var checks ChecksRule
		if p.Checks != nil {
			checks = *p.Checks
		}
		p.Checks = &checks
		return readChecksRule(body, &checks)
	})
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.checks() })
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks
//
// DropChecks requires no status checks any more. Error: 404.
func (api *API) DropChecks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.remove(w, r, a, func(p *Protection) { p.Checks = nil })
}

// answer renders a part of a protection.
func (api *API) answer(
	w http.ResponseWriter, r *http.Request, a *repo.Access, p *Protection, part func(v *protectionView) any,
) error {
	v, err := api.view(r.Context(), a, web.Param(r, "branch"), p)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, part(v))
}
