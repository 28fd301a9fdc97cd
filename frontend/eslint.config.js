import reactHooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

// A feature may import `api`, `state`, `shared` and `i18n`, never another feature.
const features = ['ask', 'plan', 'activity', 'report', 'sources', 'history', 'controls']
const fences = features.map((name) => ({
  files: [`src/features/${name}/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: features
          .filter((other) => other !== name)
          .map((other) => ({
            group: [`**/features/${other}/*`, `../${other}/*`],
            message: 'Features import shared code, never each other.',
          })),
      },
    ],
  },
}))

export default tseslint.config(
  { ignores: ['dist', 'node_modules'] },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}', 'vite.config.ts'],
    extends: [...tseslint.configs.strictTypeChecked, reactHooks.configs.flat.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      'max-lines': ['error', 300],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "JSXAttribute[name.name='style']",
          message: 'Styles live in the style sheets.',
        },
      ],
    },
  },
  ...fences,
)
