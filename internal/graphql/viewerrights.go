package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// may returns a resolver that reports whether the viewer has a role in the object's repository or, with author, wrote
// the object. If also is not nil, it must hold as well.
func may(role account.Role, author bool, also func(o *object) bool) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		if also != nil && !also(o) {
			return false, nil
		}
		if author && didAuthor(ctx, o) {
			return true, nil
		}
		has, err := roleOn(ctx, o.repo)
		return has >= role, err
	})
}

// reasons resolves viewerCannotUpdateReasons. can is the resolver of viewerCanUpdate.
func reasons(can exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := can(ctx, f, parents)
		for n, v := range values {
			if yes, ok := v.(bool); ok && yes {
				values[n] = []any{}
			} else if ok {
				values[n] = []any{"INSUFFICIENT_ACCESS"}
			}
		}
		return values
	}
}

// editable returns the fields that say whether the viewer can update and delete a text. remove is nil for types
// without viewerCanDelete.
func editable(update, remove exec.Resolver) map[string]exec.Resolver {
	fields := map[string]exec.Resolver{"viewerCanUpdate": update, "viewerCannotUpdateReasons": reasons(update)}
	if remove != nil {
		fields["viewerCanDelete"] = remove
	}
	return fields
}

func isOpen(o *object) bool   { return viewOf(o).State == issue.Open }
func isClosed(o *object) bool { return viewOf(o).State == issue.Closed && viewOf(o).MergedAt.IsZero() }

// trackedRights returns the fields about the viewer's rights that issues and pull requests share.
func trackedRights() map[string]exec.Resolver {
	return merge(editable(one(canUpdate), nil), map[string]exec.Resolver{
		"viewerCanClose":     may(account.Triage, true, isOpen),
		"viewerCanReopen":    may(account.Triage, true, isClosed),
		"viewerCanLabel":     may(account.Triage, false, nil),
		"viewerCanSubscribe": always(true),
		"viewerSubscription": subscriptions,
		"participants":       participants,
		"isReadByViewer":     readByViewer,
	})
}

// threadSubscriptions are the fields of issues with the caller's subscription in other words.
func threadSubscriptions() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"viewerThreadSubscriptionStatus": threadSubscription(map[any]any{"SUBSCRIBED": "SUBSCRIBED_TO_THREAD",
			"IGNORED": "IGNORING_THREAD", "UNSUBSCRIBED": "NONE"}),
		"viewerThreadSubscriptionFormAction": threadSubscription(map[any]any{"SUBSCRIBED": "UNSUBSCRIBE",
			"IGNORED": "SUBSCRIBE", "UNSUBSCRIBED": "SUBSCRIBE"}),
	}
}

// threadSubscription is subscriptions in other words.
func threadSubscription(words map[any]any) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := subscriptions(ctx, f, parents)
		for n, v := range values {
			if word, is := v.(string); is {
				values[n] = words[word]
			}
		}
		return values
	}
}

// subscriptions resolves the caller's subscriptions to issues and pull requests.
func subscriptions(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	l := loader[int64, subscription.Wish]{name: "issue subscriptions", route: "/issues/{number}/subscription", key: byID,
		read: func(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]subscription.Wish, error) {
			found, err := q.load.Subscriptions.States(ctx, account.CallerFrom(ctx).ID, asIDs[issue.ID](repo.Keys(list)))
			out := map[repo.Of[int64]]subscription.Wish{}
			for _, of := range list {
				out[of] = found[issue.ID(of.Key)]
			}
			return out, err
		}}
	l.load(ctx, q, objectsOf(parents))
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		w, err := l.get(ctx, q, o)
		switch {
		case errs.Is(err, errs.Forbidden): // the token does not tell
			return nil, nil
		case err != nil:
			return nil, err
		case w == subscription.Subscribe:
			return "SUBSCRIBED", nil
		case w == subscription.Ignore:
			return "IGNORED", nil
		}
		return "UNSUBSCRIBED", nil
	})(ctx, nil, parents)
}

// readByViewer resolves whether the caller has no unread notification about issues and pull requests. It is null if
// the token does not show notifications.
func readByViewer(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	in, caller, err := q.on(ctx, "GET /notifications")
	if errs.Is(err, errs.Forbidden) {
		return values
	}
	var unread map[issue.ID]bool
	if err == nil {
		ids := make([]issue.ID, len(parents))
		for n, o := range objectsOf(parents) {
			ids[n] = issue.ID(o.id)
		}
		unread, err = q.load.Notifications.Unread(in, caller, db.Unique(ids))
	}
	if err != nil {
		return failed(asError(q.noteError(err)), len(parents))
	}
	for n, o := range objectsOf(parents) {
		values[n] = !unread[issue.ID(o.id)]
	}
	return values
}

// participants resolves who took part in issues and pull requests.
func participants(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	l := loader[int64, []*account.Account]{name: "participants", route: "/issues/{number}/timeline", key: byID,
		read: func(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]][]*account.Account, error) {
			found, err := q.load.Timelines.Participants(ctx, asIDs[issue.ID](repo.Keys(list)))
			out := map[repo.Of[int64]][]*account.Account{}
			for _, of := range list {
				out[of] = found[issue.ID(of.Key)]
			}
			return out, err
		}}
	return l.values(ctx, parents, func(_ *object, people []*account.Account) (any, error) {
		return connectAll(f, "UserConnection", persons(ctx, people))
	})
}

// pullRights returns the fields about the viewer's rights that only pull requests have.
func pullRights() map[string]exec.Resolver {
	open := func(o *object) bool { return isOpen(o) }
	return map[string]exec.Resolver{
		"viewerCanDeleteHeadRef": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			head := o.value.(*pull.View).Head.Repo
			return !isOpen(o) && head != nil && head.Role >= account.Push, nil
		}),
		"viewerCanEditFiles": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return mayChangeHead(ctx, o)
		}),
		"viewerCanUpdateBranch": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			if o.value.(*pull.View).MergeState != "behind" {
				return false, nil
			}
			return mayChangeHead(ctx, o)
		}),
		"viewerCanApplySuggestion": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return mayChangeHead(ctx, o)
		}),
		"viewerCanMergeAsAdmin": may(account.Admin, false, open),
	}
}

// mayChangeHead reports whether the caller may push to the head of an open pull request.
func mayChangeHead(ctx context.Context, o *object) (bool, error) {
	v := o.value.(*pull.View)
	if !isOpen(o) || v.Head.Repo == nil {
		return false, nil
	}
	if v.Head.Repo.Role >= account.Push {
		return true, nil
	}
	role, err := roleOn(ctx, o.repo)
	return v.Modifiable && role >= account.Push, err
}

// reviewRights returns the fields about the viewer's rights to a review. Authors edit their reviews, and delete
// pending ones.
func reviewRights() map[string]exec.Resolver {
	author := one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return didAuthor(ctx, o), nil })
	return editable(author, one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		return o.value.(*review.Payload).State == "PENDING" && didAuthor(ctx, o), nil
	}))
}
