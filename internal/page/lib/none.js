// In place of what is left out.
export default class {
	constructor() { throw new Error('left out'); }
}
