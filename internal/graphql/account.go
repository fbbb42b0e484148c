package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
)

// viewer returns the caller.
func viewer(ctx context.Context) *account.Caller { return account.CallerFrom(ctx) }

// on returns the context of operations that read in place of a route outside repositories, such as
// "GET /users/{username}", and the caller as they see it. Errors: those of a request before its handler.
func (q *query) on(ctx context.Context, address string) (context.Context, *account.Caller, error) {
	if q.stopped != nil {
		return nil, nil, q.stopped
	}
	p := q.permitRead(ctx, address)
	if p.err != nil {
		return nil, nil, q.noteError(p.err)
	}
	return showing(account.WithCaller(ctx, p.caller), "raw"), p.caller, nil
}

// viewerAccount resolves the caller's account, which may be an App's bot.
func viewerAccount(ctx context.Context, _ *exec.Field) (any, error) {
	q := queryOf(ctx)
	if viewer(ctx).App != 0 {
		o, err := q.accountAt(ctx, viewer(ctx).Login)
		if err != nil {
			return nil, err
		}
		o.kind = "User"
		return o, nil
	}
	ctx, caller, err := q.on(ctx, "GET /user")
	if err != nil {
		return nil, err
	}
	me, err := q.load.Accounts.FullSelf(ctx, caller)
	if err != nil {
		return nil, q.noteError(err)
	}
	return fullAccount(me), q.hold(ctx, sizeOf(me))
}

// fullAccount returns an account by its whole value, with the type that REST reports.
func fullAccount(a account.Full) *object {
	o := &object{kind: a.Type}
	o.set(a)
	return o
}

// accountAt returns the account of a login. Error: 404.
func (q *query) accountAt(ctx context.Context, login string) (*object, error) {
	key := "account " + account.Fold(login)
	k, known := q.kept[key]
	if !known {
		k.value, k.err = q.readAccount(ctx, login)
		q.kept[key] = k
	}
	if k.err != nil {
		return nil, k.err
	}
	return fullAccount(k.value.(account.Full)), nil
}

func (q *query) readAccount(ctx context.Context, login string) (a account.Full, err error) {
	ctx, caller, err := q.on(ctx, "GET /users/{username}")
	if err != nil {
		return a, err
	}
	found, err := q.load.Accounts.FullByLogins(ctx, caller, []string{login})
	if err != nil {
		return a, q.noteError(err)
	}
	a, there := found[account.Fold(login)]
	if !there {
		return a, errs.Absent()
	}
	return a, q.hold(ctx, sizeOf(a))
}

// accountsByID loads whole accounts. Unknown ids are missing.
func (q *query) accountsByID(ctx context.Context, ids []int64) (map[account.ID]account.Full, error) {
	ctx, caller, err := q.on(ctx, "GET /users")
	if err != nil {
		return nil, err
	}
	found, err := q.load.Accounts.FullByIDs(ctx, caller, db.Unique(asIDs[account.ID](ids)))
	if err != nil {
		return nil, q.noteError(err)
	}
	for _, a := range found {
		if err := q.hold(ctx, sizeOf(a)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// accounts loads the missing fields of accounts that are part of other values, such as an issue's author.
type accounts struct{}

func (accounts) fill(ctx context.Context, q *query, objects []*object) map[*object]error {
	ids := make([]int64, len(objects))
	for n, o := range objects {
		ids[n] = o.id
	}
	found, err := q.accountsByID(ctx, ids)
	failed := map[*object]error{}
	for _, o := range objects {
		a, there := found[account.ID(o.id)]
		switch {
		case err != nil:
			failed[o] = err
		case !there:
			failed[o] = errs.Absent()
		default:
			o.set(a)
		}
	}
	return failed
}

// findAccounts finds accounts by their node ids.
func (q *query) findAccounts(ctx context.Context, ids []nodeID) []lookup {
	accounts, err := q.accountsByID(ctx, numbersOf(ids))
	if err != nil {
		return failures(err, len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		if a, there := accounts[account.ID(id.number)]; there {
			found[n].value = fullAccount(a)
		}
	}
	return found
}

// accountOf finds an account of one kind, whose name in errors begins with its article.
func accountOf(kind, article string) exec.Resolver {
	return root(func(ctx context.Context, f *exec.Field) (any, error) {
		login := f.Args["login"].(string)
		what := article + " with the login of '" + clip(login) + "'"
		o, err := queryOf(ctx).accountAt(ctx, login)
		if err != nil {
			return nil, orUnresolved(err, what)
		}
		if kind != "" && o.kind != kind {
			return nil, unresolved(what)
		}
		return o, nil
	})
}

// root returns a resolver for a field of the root, whose value the function returns.
func root(value func(ctx context.Context, f *exec.Field) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, _ []exec.Object) []any {
		v, err := value(ctx, f)
		if err != nil {
			return []any{asError(err)}
		}
		return []any{v}
	}
}

// failed returns the error for each of n parents.
func failed(err error, n int) []any {
	values := make([]any, n)
	for k := range values {
		values[k] = err
	}
	return values
}

// ofAccount resolves a field with a part of any value that contains an account.
func ofAccount(part func(a *account.Simple) any) exec.Resolver {
	return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
		if a, whole := o.value.(account.Full); whole {
			return part(&a.Simple), nil
		}
		return part(o.value.(*account.Simple)), nil
	})
}

// accountFields returns the fields that all accounts have, and those of kinds that only whole accounts have.
func accountFields(whole map[string]exec.Resolver) map[string]exec.Resolver {
	created := pick(func(a account.Full) any { return a.CreatedAt })
	updated := pick(func(a account.Full) any { return a.UpdatedAt })
	return merge(after(isWhole, merge(map[string]exec.Resolver{"createdAt": created, "updatedAt": updated}, whole)),
		map[string]exec.Resolver{
			"id":           ofAccount(func(a *account.Simple) any { return a.NodeID }),
			"databaseId":   ofAccount(func(a *account.Simple) any { return int64(a.ID) }),
			"login":        ofAccount(func(a *account.Simple) any { return a.Login }),
			"avatarUrl":    ofAccount(func(a *account.Simple) any { return a.AvatarURL }),
			"url":          ofAccount(func(a *account.Simple) any { return a.HTMLURL }),
			"resourcePath": ofAccount(func(a *account.Simple) any { return pathOf(a.HTMLURL) }),
		})
}

// ownerFields returns the fields of users and organizations.
func ownerFields() map[string]exec.Resolver {
	return merge(profileFields(), map[string]exec.Resolver{
		"repository": ownedRepository, "repositories": connections(ownedRepositories),
	})
}

func userFields() map[string]exec.Resolver {
	return merge(ownerFields(), accountFields(map[string]exec.Resolver{
		"name":       pick(func(a account.Full) any { return a.Name }),
		"email":      pick(func(a account.Full) any { return orEmpty(a.Email) }),
		"bio":        pick(func(a account.Full) any { return a.Bio }),
		"company":    pick(func(a account.Full) any { return a.Company }),
		"location":   pick(func(a account.Full) any { return a.Location }),
		"websiteUrl": pick(func(a account.Full) any { return orNil(orEmpty(a.Blog)) }),
	}), map[string]exec.Resolver{
		"isSiteAdmin": ofAccount(func(a *account.Simple) any { return a.SiteAdmin }),
		"isViewer": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return o.name == viewer(ctx).Login, nil
		}),
		"viewerCanChangePinnedItems": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return o.id == int64(viewer(ctx).ID) && viewer(ctx).App == 0, nil
		}),
		"organizations": connections(organizations), "savedReplies": one(savedReplies),
	}, personFields())
}

func botFields() map[string]exec.Resolver { return accountFields(nil) }

// mannequinFields are those of a bot. A mannequin that somebody claimed is gone, and its address is not kept.
func mannequinFields() map[string]exec.Resolver {
	return accountFields(map[string]exec.Resolver{"claimant": always(nil), "email": always(nil)})
}

func organizationFields() map[string]exec.Resolver {
	return merge(ownerFields(), accountFields(map[string]exec.Resolver{
		"name":        pick(func(a account.Full) any { return a.Name }),
		"email":       pick(func(a account.Full) any { return a.Email }),
		"description": pick(func(a account.Full) any { return a.Bio }),
		"location":    pick(func(a account.Full) any { return a.Location }),
		"websiteUrl":  pick(func(a account.Full) any { return orNil(orEmpty(a.Blog)) }),
	}), map[string]exec.Resolver{
		"viewerIsAMember": ofOrganizations((*account.Service).MemberOf, func(is bool) any { return is }),
		"teams":           connections(organizationTeams), "team": teamOfSlug,
	}, companyFields())
}
