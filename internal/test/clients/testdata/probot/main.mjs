// A GitHub App: it comments on what is opened and checks what is pushed, by a token of the installation that it is
// told of. It listens on a port of its own, which it says, and goes when its standard input ends.
import fs from "node:fs";
import { Octokit } from "@octokit/core";
import { createAppAuth } from "@octokit/auth-app";
import { Probot, Server } from "probot";

const { appId, privateKey, secret, baseUrl, port } = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const say = (what) => console.log("APP " + JSON.stringify(what));

const app = new Octokit({ authStrategy: createAppAuth, auth: { appId, privateKey }, baseUrl });
say({ slug: (await app.request("GET /app")).data.slug });

const server = new Server({ Probot: Probot.defaults({ appId, privateKey, secret, baseUrl, logLevel: "error" }), port, webhookPath: "/" });
await server.load((probot) => {
  probot.on("installation.created", async ({ payload }) => {
    say({ installed: payload.installation.account.login, repositories: payload.repositories.map((r) => r.full_name) });
  });
  probot.on("issues.opened", async (context) => {
    const { data } = await context.octokit.rest.issues.createComment(context.issue({ body: "Thank you!" }));
    say({ commented: data.user.login, installation: context.payload.installation.id });
  });
  probot.on("check_suite.requested", async (context) => {
    const { check_suite: suite } = context.payload;
    const begun = await context.octokit.rest.checks.create(context.repo({ name: "slugs", head_sha: suite.head_sha, status: "in_progress" }));
    const { data } = await context.octokit.rest.checks.update(context.repo({
      check_run_id: begun.data.id, conclusion: "failure", output: { title: "Slugs", summary: "There are **some**.",
        annotations: [{ path: "beds.txt", start_line: 1, end_line: 1, annotation_level: "failure", message: "A slug" }] },
    }));
    say({ checked: suite.head_branch, conclusion: data.conclusion, annotations: data.output.annotations_count });
  });
});
await server.start();
say({ ready: true });
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
