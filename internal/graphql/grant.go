package graphql

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/follow"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/issue/branch"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/subscription"
	"arbor/internal/label"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/review"
	"arbor/internal/route"
	"arbor/internal/star"
)

// Grant returns the context in which an operation runs for the caller of ctx, after the checks that a request to
// the route at the address ("POST /user/repos") meets before its handler. Payloads contain texts as media says:
// raw or full. Errors: those of the route.
type Grant func(ctx context.Context, address, media string) (context.Context, *route.Route, error)

// Operations are the services whose operations mutations call.
type Operations struct {
	Grant   Grant
	Explain func(err error) error // adds that a disk is full to the error of a write

	DB            *db.DB
	Repos         *repo.Service
	Settings      *settings.Service
	Issues        *issue.Service
	Comments      *comment.Service
	Subscriptions *subscription.Service
	Branches      *branch.Service
	Labels        *label.Service
	Deletions     *deletion.Service
	Pulls         *pull.Service
	Reviews       *review.Service
	Checks        *checkrun.Service
	Stars         *star.Service
	Follows       *follow.Service
	Git           *gitdata.API
}

// access returns the context and the access for an operation on a repository, as the route at the address grants
// them to the caller. The caller needs at least a role besides. Errors: those of the route before its handler.
func (q *query) access(
	ctx context.Context, in *object, address string, role account.Role,
) (context.Context, *repo.Access, error) {
	if err := identify(ctx, in); err != nil {
		return ctx, nil, err
	}
	ctx, to, err := q.do.Grant(ctx, address, "raw")
	if err != nil {
		return ctx, nil, err
	}
	a, err := q.accessTo(ctx, account.CallerFrom(ctx), in)
	if err != nil {
		return ctx, nil, err
	}
	least, _ := account.ParseRole(string(to.Right))
	role = max(role, least)
	switch {
	case to.Method == http.MethodGet:
		if err = a.TokenLets(false); err == nil {
			err = a.Require(role)
		}
	case to.Archived:
		ctx, err = q.do.Repos.ToChangeArchived(ctx, a, role)
	default:
		ctx, err = q.do.Repos.ToChange(ctx, a, role)
	}
	return ctx, a, err
}

// identify loads the id and the name of a repository.
func identify(ctx context.Context, in *object) error {
	if _, err := in.member(ctx, "id"); err != nil {
		return err
	}
	_, err := in.member(ctx, "full_name")
	return err
}

// accessTo finds a repository, which has its id and its name, for the caller. Error: 404.
func (q *query) accessTo(ctx context.Context, caller *account.Caller, in *object) (*repo.Access, error) {
	owner, name, _ := strings.Cut(textOf(in.data, "full_name"), "/")
	found, err := q.do.Repos.Find(ctx, caller, owner, name)
	if err == nil && int64(found.ID) != wholeNumber(in, "id") { // the name belongs to another repository now
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return &found.Access, nil
}
