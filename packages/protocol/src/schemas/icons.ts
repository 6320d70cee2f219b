/** Icons and names. */

import { z } from 'zod/v4';
import type { Icon, Implementation } from '../model/implementation.ts';
import { loose, optionalString, optionalStrings } from './base.ts';

/** The zod twin of `Icon`. */
export const IconSchema: z.ZodType<Icon> = loose({
  src: z.string(),
  mimeType: optionalString,
  sizes: optionalStrings,
  theme: z.enum(['light', 'dark']).optional(),
});

/** Members of whatever has a name and icons. */
export const named: z.ZodRawShape = { name: z.string(), title: optionalString, icons: z.array(IconSchema).optional() };

/** The zod twin of `Implementation`. */
export const ImplementationSchema: z.ZodType<Implementation> = loose({
  ...named,
  version: z.string(),
  description: optionalString,
  websiteUrl: optionalString,
});
