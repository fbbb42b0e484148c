package notification

import "arbor/internal/route"

// Routes are the endpoints of notifications. Also those of an archived repository are read and marked.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	return []route.Route{
		route.New(route.SignedIn, "GET /notifications", api.List),
		route.New(route.SignedIn, "PUT /notifications", api.MarkAll),
		route.New(route.SignedIn, "GET /notifications/threads/{thread_id}", api.Get),
		route.New(route.SignedIn, "PATCH /notifications/threads/{thread_id}", api.MarkRead),
		route.New(route.SignedIn, "DELETE /notifications/threads/{thread_id}", api.Finish),
		route.New(route.SignedIn, "GET /notifications/threads/{thread_id}/subscription", api.GetSubscription),
		route.New(route.SignedIn, "PUT /notifications/threads/{thread_id}/subscription", api.SetSubscription),
		route.New(route.SignedIn, "DELETE /notifications/threads/{thread_id}/subscription",
			api.DeleteSubscription),
		repos.Route(route.SignedIn, "GET /repos/{owner}/{repo}/notifications", api.ListOfRepo),
		repos.RouteArchived(route.SignedIn, "PUT /repos/{owner}/{repo}/notifications", api.MarkRepo),
	}
}
