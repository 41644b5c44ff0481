export { A2AHealthIndicator } from './a2a.health-indicator.js';
