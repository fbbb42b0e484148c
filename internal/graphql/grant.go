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
	"arbor/internal/rule"
	"arbor/internal/star"
)

// Operations are the services whose operations mutations call.
type Operations struct {
	Explain func(err error) error // adds that a disk is full to the error of a write

	DB            *db.DB
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
	Git           *gitdata.Service
	Rules         *rule.Service
}

// access returns the context and the access for an operation on a repository, as the route at the address grants
// them to the caller. The caller needs at least a role besides. Errors: those of the route before its handler.
func (q *query) access(
	ctx context.Context, in *object, address string, role account.Role,
) (context.Context, *repo.Access, error) {
	if err := q.identify(ctx, in); err != nil {
		return ctx, nil, err
	}
	ctx, to, err := q.permit(showing(ctx, "raw"), address)
	if err != nil {
		return ctx, nil, err
	}
	a, err := q.accessTo(ctx, account.CallerFrom(ctx), in)
	if err != nil {
		return ctx, nil, err
	}
	role = max(role, roleOf(to))
	switch {
	case to.Method == http.MethodGet:
		err = a.MayRead(role)
	case to.Archived:
		ctx, err = q.load.Repos.ToChangeArchived(ctx, a, role)
	default:
		ctx, err = q.load.Repos.ToChange(ctx, a, role)
	}
	return ctx, a, err
}

// identify loads the id of a repository.
func (q *query) identify(ctx context.Context, in *object) error {
	return q.loadOne(ctx, in, func(o *object) bool { return o.id != 0 })
}

// accessTo finds a repository, which has its id, for the caller. Error: 404.
func (q *query) accessTo(ctx context.Context, caller *account.Caller, in *object) (*repo.Access, error) {
	owner, name, _ := strings.Cut(in.name, "/")
	found, err := q.load.Repos.Find(ctx, caller, owner, name)
	if err == nil && int64(found.ID) != in.id { // the name belongs to another repository now
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return &found.Access, nil
}
