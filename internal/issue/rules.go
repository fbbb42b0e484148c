package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/repo"
)

// MayEdit returns 403 unless the caller is the issue's author or has the role need: Push for its texts
// (code-hosting.md, Authentication 3), Triage for all else (decision 12).
func MayEdit(a *repo.Access, i *Issue, need account.Role) error {
	if a.Role >= need || a.Caller != nil && a.Caller.ID == i.AuthorID {
		return nil
	}
	return errs.Newf(errs.Forbidden, "Must be the author of the issue or have %s access to Repository.", need)
}

// Enabled returns 410 for an issue of a repository with issues disabled. Its pull requests are still
// available (decision 16).
func Enabled(r *repo.Repo, i *Issue) error {
	if r.HasIssues || i != nil && i.Pull {
		return nil
	}
	return errs.New(errs.Gone, "Issues are disabled for this repo")
}

// EnabledByNumber reads an issue or pull request. Errors: 404; [repo.MovedError] for a transferred issue;
// 410 for a deleted issue, and if issues are disabled (decision 16).
func EnabledByNumber(tx *db.Tx, a *repo.Access, number int64) (*Issue, error) {
	i, err := ByNumber(tx, a.ID, number)
	if errs.Is(err, errs.NotFound) {
		err = missingError(tx, a, number)
	}
	if err != nil {
		return nil, err
	}
	return i, Enabled(a.Repo, i)
}

// assignable returns the accounts with the given logins that can be assigned to an issue of the author:
// those with push access, and the author with read access (decision 32). Duplicates are removed. Error: 422
// for field.
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

// tooManyAssignees returns the 422 for too many assignees (decision 19).
func tooManyAssignees(field string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: errs.Custom,
		Message: "assignees are too many (maximum is 10)"})
}

// canBeAssigned reports whether a user can be assigned to an issue of the author, or to any issue if
// authorID is 0. Site administrators can push everywhere but can be assigned only if they belong to the
// repository.
func canBeAssigned(r *repo.Repo, p repo.Person, authorID account.ID) bool {
	if p.Kind != account.User {
		return false
	}
	belongs := p.ID == r.OwnerID || p.Member || p.Collaborator
	return belongs && p.Role >= account.Push || p.ID == authorID && p.Role >= account.Pull
}

// milestoneFor reads the milestone with the number in a request. Error: 422 (decision 32).
func milestoneFor(tx *db.Tx, repoID repo.ID, number int64) (*milestone.Milestone, error) {
	m, err := milestone.ByNumber(tx, repoID, number)
	if errs.Is(err, errs.NotFound) {
		return nil, wrong("milestone", errs.InvalidField, number)
	}
	return m, err
}

// MayHide returns 403 unless the caller may hide a comment of an author: it requires the role Triage, or the author,
// while the conversation is not locked. A comment that is hidden already takes the role: its author does not undo what
// others did.
func MayHide(a *repo.Access, authorID account.ID, locked bool, now issuekit.Hidden) error {
	if a.Role >= account.Triage || !locked && now == 0 && a.Caller != nil && a.Caller.ID == authorID {
		return nil
	}
	return errs.New(errs.Forbidden, "Must be the author of the comment or have triage access to Repository.")
}
