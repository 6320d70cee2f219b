/** Elicitation: a server asks the user for input, by a form or a web page. Since 2025-06-18. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { MetaObject, NotificationParams, RequestParams } from './meta.ts';
import type { TaskMetadata } from './tasks.ts';

/** The members that every field of an elicitation form may have. */
interface FieldBase extends JsonObject {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** The schema of a text field of an elicitation form. */
export interface StringSchema extends FieldBase {
  readonly type: 'string';
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** The preset value of the field. Since 2025-11-25. */
  readonly default?: string | undefined;
}

/** The schema of a number field of an elicitation form. */
export interface NumberSchema extends FieldBase {
  readonly type: 'number' | 'integer';
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** The preset value of the field. Since 2025-11-25. */
  readonly default?: number | undefined;
}

/** The schema of a yes-or-no field of an elicitation form. */
export interface BooleanSchema extends FieldBase {
  readonly type: 'boolean';
  readonly default?: boolean | undefined;
}

/** One option of a choice in an elicitation form: its value, and the label that the user sees. */
interface EnumOption extends JsonObject {
  readonly const: string;
  readonly title: string;
}

/** The schema of a form field with which the user chooses one value; the values have no labels. */
export interface UntitledSingleSelectEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly enum: readonly string[];
  readonly default?: string | undefined;
}

/** The schema of a form field with which the user chooses one value; the values have labels. Since 2025-11-25. */
export interface TitledSingleSelectEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly oneOf: readonly EnumOption[];
  readonly default?: string | undefined;
}

/** The schema of a form field with which the user chooses one value. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** The schema of a form field with which the user chooses several values; the values have no labels. Since 2025-11-25. */
export interface UntitledMultiSelectEnumSchema extends FieldBase {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items: EnumItems;
  readonly default?: readonly string[] | undefined;
}

/** The values that a form field for several values offers. */
interface EnumItems extends JsonObject {
  readonly type: 'string';
  readonly enum: readonly string[];
}

/** The schema of a form field with which the user chooses several values; the values have labels. Since 2025-11-25. */
export interface TitledMultiSelectEnumSchema extends FieldBase {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items: TitledEnumItems;
  readonly default?: readonly string[] | undefined;
}

/** The values, with labels, that a form field for several values offers. */
interface TitledEnumItems extends JsonObject {
  readonly anyOf: readonly EnumOption[];
}

/** The schema of a form field with which the user chooses several values. Since 2025-11-25. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** The schema of a form field for one of several labelled values. @deprecated since 2025-11-25: use `oneOf`. For peers of 2025-06-18. */
export interface LegacyTitledEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly enum: readonly string[];
  /** The labels of the values in `enum`, in the same order. */
  readonly enumNames?: readonly string[] | undefined;
  readonly default?: string | undefined;
}

/** The schema of a form field with which the user chooses one or several values. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** The schema of one field of an elicitation form. Fields cannot be nested. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The schema of an elicitation form: its fields by name. */
interface RequestedSchema extends JsonObject {
  readonly $schema?: string | undefined;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PrimitiveSchemaDefinition>>;
  readonly required?: readonly string[] | undefined;
}

/**
 * Params of `elicitation/create` in form mode. A form must not ask for passwords, keys or payment details.
 *
 * @see 2026-07-28 client/elicitation#form-mode-elicitation-requests
 */
export interface ElicitRequestFormParams extends RequestParams {
  readonly mode?: 'form' | undefined;
  readonly message: string;
  readonly requestedSchema: RequestedSchema;
  /** Asks the client to run this elicitation as a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/**
 * Params of `elicitation/create` in URL mode: the user opens a web page. Since 2025-11-25.
 *
 * @see 2026-07-28 client/elicitation#url-mode-elicitation-requests
 */
export interface ElicitRequestURLParams extends RequestParams {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  /** The elicitation's id, unique within the server; mandatory in 2025-11-25. @until 2025-11-25; then `requestState` is used instead. */
  readonly elicitationId?: string | undefined;
  /** Asks the client to run this elicitation as a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/** Params of `elicitation/create`: form mode, or since 2025-11-25 URL mode. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** The values that the user entered in a form, by field name. Arrays (several chosen values) since 2025-11-25. */
export type ElicitContent = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The user's answer to an elicitation. In URL mode `accept` means that the user agreed to open the page, not that it is finished. */
export interface ElicitResult extends JsonObject {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The values that the user entered. Only with `accept` in form mode. */
  readonly content?: ElicitContent | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** Params of `notifications/elicitation/complete`: the user has finished on the web page. @until 2025-11-25; then clients just retry. */
export interface ElicitationCompleteNotificationParams extends NotificationParams {
  readonly elicitationId: string;
}
