package settings

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CreateForOrg is Create for an organization to which the caller belongs. A member who is not an owner
// becomes the repository's first administrator. Errors: also 404 for an owner that is not an organization.
func (s *Service) CreateForOrg(ctx context.Context, caller *account.Caller, n repo.NewRepo) (*repo.Repo, error) {
	if err := s.isOrg(ctx, n.Owner); err != nil {
		return nil, err
	}
	return s.Create(ctx, caller, n)
}

// Create creates a repository. Errors: 403, 404 and 422 as of [repo.Service.Create]; 422 for invalid values.
func (s *Service) Create(ctx context.Context, caller *account.Caller, n repo.NewRepo) (*repo.Repo, error) {
	if err := checkNew(n); err != nil {
		return nil, err
	}
	return s.repos.Create(ctx, caller, n)
}

// checkNew reports what is wrong with the texts of a new repository. Error: 422.
func checkNew(n repo.NewRepo) error {
	f := web.Faults{Resource: repo.Resource}
	if n.Name == "" {
		f.Wrong("name", errs.MissingField, "")
	} else {
		checkNewName(&f, n.Name)
	}
	if n.Description != nil {
		f.CheckText("description", *n.Description, maxDescription)
	}
	if n.Homepage != nil {
		f.CheckText("homepage", *n.Homepage, maxHomepage)
	}
	return f.Err()
}

func checkNewName(f *web.Faults, name string) {
	if message := repo.CheckName(name); message != "" {
		f.Wrong("name", errs.Custom, message)
	}
}

// isOrg returns 404 unless the login is an organization's.
func (s *Service) isOrg(ctx context.Context, login string) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		org, err := account.ByLogin(tx, login)
		if err == nil && org.Kind != account.Organization {
			err = errs.Absent()
		}
		return err
	})
}
