package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/milestone"
	"arbor/internal/repo"
)

// MayEdit returns the 403 for who may not edit the issue: its author and those
// with push access may (code-hosting.md, Authentication 3).
func MayEdit(a *repo.Access, i *Issue) error {
	if a.Role >= account.Push || a.Caller != nil && a.Caller.ID == i.AuthorID {
		return nil
	}
	return errs.New(errs.Forbidden, "Must be the author of the issue or have push access to Repository.")
}

// Enabled returns the 410 for the issues of a repository that has them switched
// off; its pull requests still answer (decision 16).
func Enabled(r *repo.Repo, i *Issue) error {
	if r.HasIssues || i != nil && i.Pull {
		return nil
	}
	return errs.New(errs.Gone, "Issues are disabled for this repo")
}

// EnabledByNumber finds an issue of a repository that has issues, or a pull request.
// Errors: 404; [repo.MovedError] for one that was transferred; 410 (decision 16), also for one that was
// deleted.
func EnabledByNumber(tx *db.Tx, a *repo.Access, number int64) (*Issue, error) {
	i, err := ByNumber(tx, a.ID, number)
	if errs.Is(err, errs.NotFound) {
		err = whereabouts(tx, a, number)
	}
	if err != nil {
		return nil, err
	}
	return i, Enabled(a.Repo, i)
}

// assignable finds the accounts that can be assigned to an issue by the author:
// those with push access, and the author who can pull (decision 32). Each
// account is there once. Error: 422 that names field.
func assignable(
	tx *db.Tx, r *repo.Repo, authorID account.ID, field string, logins []string,
) ([]account.ID, error) {
	people, err := repo.PeopleNamed(tx, r, logins)
	if err != nil {
		return nil, err
	}
	ids := make([]account.ID, 0, len(logins))
	seen := map[account.ID]bool{}
	for _, login := range logins {
		p, ok := people[account.Fold(login)]
		if !ok || !canBeAssigned(r, p, authorID) {
			return nil, wrong(field, errs.InvalidField, login)
		}
		if !seen[p.ID] {
			seen[p.ID] = true
			ids = append(ids, p.ID)
		}
	}
	if len(ids) > MaxAssignees {
		return nil, tooManyAssignees(field)
	}
	return ids, nil
}

// tooManyAssignees is the 422 for more than an issue can have (decision 19).
func tooManyAssignees(field string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: errs.Custom,
		Message: "assignees are too many (maximum is 10)"})
}

// canBeAssigned tells whether somebody can be assigned to an issue by the author
// (0: to issues of anyone). Administrators of the site, who may push everywhere,
// need a part in the repository like everybody else.
func canBeAssigned(r *repo.Repo, p repo.Person, authorID account.ID) bool {
	if p.Kind != account.User {
		return false
	}
	belongs := p.ID == r.OwnerID || p.Member || p.Collaborator
	return belongs && p.Role >= account.Push || p.ID == authorID && p.Role >= account.Pull
}

// milestoneFor finds the milestone that a body names. Error: 422 (decision 32).
func milestoneFor(tx *db.Tx, repoID repo.ID, number int64) (*milestone.Milestone, error) {
	m, err := milestone.ByNumber(tx, repoID, number)
	if errs.Is(err, errs.NotFound) {
		return nil, wrong("milestone", errs.InvalidField, number)
	}
	return m, err
}
