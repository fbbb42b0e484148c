// Writes the icons of the pages, for the folder ../templates or the one that is named: make lib.
import { readFileSync, writeFileSync } from 'node:fs';

// Each name in the templates and the script, with the Octicon that it is, and its class.
const icons = {
	// States of issues and pull requests: one each, see "issue-icon" and "pull-icon".
	issue: 'issue-opened', done: 'issue-closed', skip: 'skip',
	pull: 'git-pull-request', draft: 'git-pull-request-draft', 'pull-closed': 'git-pull-request-closed', merge: 'git-merge',
	// How something went.
	check: 'check good', cross: 'x bad', dot: 'dot-fill wait',
	// Things.
	bell: 'bell', branch: 'git-branch', comment: 'comment', commit: 'git-commit', file: 'file', files: 'sidebar-collapse', flag: 'milestone',
	folder: 'file-directory-fill folder', home: 'organization', lock: 'lock', mail: 'mail', people: 'people', person: 'person', pin: 'pin', place: 'location',
	repo: 'repo', star: 'star', tag: 'tag', unlock: 'unlock', zip: 'file-zip',
	// Acts.
	clear: 'x', copy: 'copy', find: 'search', gear: 'sliders', more: 'kebab-horizontal', pencil: 'pencil', plus: 'plus',
	reference: 'cross-reference', smile: 'smiley', transfer: 'arrow-right', trash: 'trash',
	// Tools of the editor.
	bold: 'bold', italic: 'italic', heading: 'heading', quote: 'quote', code: 'code', link: 'link', list: 'list-unordered',
	numbers: 'list-ordered', tasks: 'tasklist', mention: 'mention', shut: 'chevron-right', open: 'chevron-down',
};

const from = 'node_modules/@primer/octicons/';
const { version, license } = JSON.parse(readFileSync(from + 'package.json'));
const all = JSON.parse(readFileSync(from + 'build/data.json'));
const lines = Object.entries(icons).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, what]) => {
	const [octicon, kind] = what.split(' ');
	const path = all[octicon].heights[16].path.replaceAll(/><\/\w+>/g, '/>');
	return `{{define "icon-${name}"}}<svg class="icon${kind ? ' ' + kind : ''}" viewBox="0 0 16 16" aria-hidden="true">${path}</svg>{{end}}\n`;
});
writeFileSync(`${process.argv[2] ?? '../templates'}/icons.html`,
	`{{/* Made by make lib from Octicons ${version}, Copyright (c) GitHub Inc., ${license}; see icons.js in the folder lib. */}}\n` + lines.join(''));
