// Builds the scripts that few pages load, for the folder ../assets/lib, or for the one that is named: make lib.
import { build } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const to = process.argv[2] ?? '../assets/lib';
mkdirSync(to, { recursive: true });
for (const name of ['editor', 'math', 'diagrams']) {
	const { outputFiles: [file] } = await build({
		entryPoints: [`${name}.js`], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022',
		charset: 'utf8', legalComments: 'none',
		// A layout of Mermaid's that texts must ask for, as large as all the rest, and under another licence. Without it
		// they get the usual one, which diagrams.js sets.
		alias: { 'elkjs/lib/elk.bundled.js': './none.js' },
	});
	const zipped = gzipSync(file.contents, { level: 9 });
	writeFileSync(`${to}/${name}.js.gz`, zipped);
	console.log(`${name}: ${file.contents.length} bytes, ${zipped.length} compressed`);
}
