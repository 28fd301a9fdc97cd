import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

// Nothing is inlined, so that the page runs under a Content-Security-Policy without
// `unsafe-inline` and without `data:`.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    manifest: true,
  },
  server: { proxy: { '/api': process.env['API'] ?? 'http://127.0.0.1:8000' } },
  test: { include: ['test/**/*.test.ts', 'test/**/*.test.tsx'], environment: 'node' },
})
